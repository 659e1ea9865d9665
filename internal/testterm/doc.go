// Package testterm runs programs in terminals of their own, on Linux. It owns what
// tests type into such a terminal and see of it; the terminal answers no question.
package testterm
