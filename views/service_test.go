package views_test

import (
	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views"
)

// The real viewer is a backend.
var _ views.Backend = (*viewer.Service)(nil)
