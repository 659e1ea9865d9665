package py

import "fmt"

// An Error is a Python exception.
type Error struct {
	Type    string // the class name, such as "KeyError"
	Message string // str() of the exception
}

// Error is the last line of Python's traceback.
func (e *Error) Error() string {
	if e.Message == "" {
		return e.Type
	}
	return e.Type + ": " + e.Message
}

// Errorf is an exception of a class with a formatted message.
func Errorf(class, format string, args ...any) *Error {
	return &Error{Type: class, Message: fmt.Sprintf(format, args...)}
}

// NewKeyError is KeyError(text), whose str() is the repr of the text.
func NewKeyError(text string) *Error {
	return &Error{Type: "KeyError", Message: Repr(text)}
}
