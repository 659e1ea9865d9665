package main

import (
	"fmt"
	"os"
	"time"
)

// testTool is the tools of the test flows.
//
//	say JSON         answers with JSON
//	fail TEXT        fails
//	crash FILE JSON  kills the worker when FILE is not there, and makes it
//	env NAME         answers with the value of a variable
//	wait FILE        makes FILE and goes on for a long time
func testTool() {
	args := os.Args[1:]
	switch args[0] {
	case "say":
		fmt.Println(args[1])
	case "fail":
		fmt.Fprintln(os.Stderr, args[1])
		os.Exit(1)
	case "crash":
		if !exists(args[1]) {
			touch(args[1])
			kill(os.Getppid())
			os.Exit(1)
		}
		fmt.Println(args[2])
	case "env":
		fmt.Printf("%q\n", os.Getenv(args[1]))
	case "wait":
		touch(args[1])
		time.Sleep(time.Minute)
	}
	os.Exit(0)
}

func touch(path string) {
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		panic(err)
	}
}

func kill(pid int) {
	p, err := os.FindProcess(pid)
	if err == nil {
		err = p.Kill()
	}
	if err != nil {
		panic(err)
	}
}
