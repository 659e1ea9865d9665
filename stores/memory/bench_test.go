package memory_test

import (
	"bytes"
	"sync"
	"testing"

	"github.com/flowtui/flowtui/stores/memory"
	"github.com/flowtui/flowtui/stores/storetest"
)

// BenchmarkWrites: the floor keeps a copy of the bytes, under a lock.
func BenchmarkWrites(b *testing.B) {
	var mu sync.Mutex
	var rows [][]byte
	storetest.BenchWrites(b, memory.New(memory.Options{}), func(_ *testing.B, row []byte) error {
		mu.Lock()
		defer mu.Unlock()
		rows = append(rows, bytes.Clone(row))
		return nil
	})
}
