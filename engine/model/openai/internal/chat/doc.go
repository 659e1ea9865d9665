// Package chat owns the reading of what a chat-completions endpoint answers:
// replies, and errors by whose they are. It does not know the library that
// fetches the answer, so its fuzz tests do not wait for that to be instrumented.
package chat
