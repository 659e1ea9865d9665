// Package testproxy stands between a client and a server in tests, and loses
// what they say to each other: a request before it arrives, a reply after the
// server has done its work, or only the time that it takes.
package testproxy
