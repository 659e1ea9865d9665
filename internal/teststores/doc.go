// Package teststores gives tests a fresh store of each native kind, on a disk or
// on a private server of [testservers]. It owns how a test of all stores finds
// and opens them, also from another process, and none of what is tested.
package teststores
