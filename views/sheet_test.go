package views_test

import "testing"

func TestSheetGolden(t *testing.T) {
	t.Parallel()
	sheets := []struct {
		name string
		keys []string
	}{
		{"resolve", []string{"e"}},
		{"recover", []string{"R"}},
		{"approve", []string{"j", "a"}},
		{"answer", []string{"j", "j", "i"}},
		{"help", []string{"?"}},
	}
	for _, s := range sheets {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			x := start(t, 80, 24)
			x.keys(s.keys...)
			x.golden(s.name + "_80x24")
		})
	}
}
