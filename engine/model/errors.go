package model

import "errors"

// The classes of a model's errors. Test with errors.Is.
var (
	// ErrUnavailable is temporary, or a fact of this process: no connection, a
	// rate limit, a timeout, a wrong key, an address where something else
	// answers. It is not the run's failure; the run stays recoverable.
	ErrUnavailable = errors.New("the model is not available")
	// ErrRejected says that the request itself was refused, or that its answer
	// cannot be used: trying again would bring the same. It is the run's failure.
	ErrRejected = errors.New("the model has no usable reply to this request")
)
