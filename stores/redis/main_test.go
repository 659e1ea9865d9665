package redis_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"testing"

	"github.com/flowtui/flowtui/internal/testservers"
	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/redis"
	"github.com/flowtui/flowtui/stores/storetest"
)

// The test binary is also the other process in tests that need one: this
// variable says that it is, and on which store.
const childStore = "FLOWTUI_TEST_REDIS"

// lastStep is how far the processes bring their run.
const lastStep = 60

func TestMain(m *testing.M) {
	redis.Quiet()
	if address := os.Getenv(childStore); address != "" {
		if err := raceOn(context.Background(), address); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// raceOn goes on with a run that other processes go on with as well, and says
// each step that it won.
func raceOn(ctx context.Context, address string) error {
	s, err := redis.Open(ctx, address, redis.Options{})
	if err != nil {
		return err
	}
	defer s.Close()
	p := place("r")
	for {
		last, err := s.Latest(ctx, p.Key)
		if err != nil {
			return err
		}
		if last.Step >= lastStep {
			return nil
		}
		w := storetest.Step(p, last.Step+1)
		w.Events = []stores.Event{storetest.Event(p, last.Step+1)}
		switch err := s.Save(ctx, w); {
		case err == nil:
			fmt.Println(last.Step + 1)
		case !errors.Is(err, stores.ErrConflict):
			return err
		}
	}
}

// Scenario 10: several processes save the same steps, and each step is won once.
func TestScenario10ManyProcesses(t *testing.T) {
	server := testservers.Redis(t)
	s := create(t, server.URL, "r")
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	won := map[int]int{}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			cmd := exec.Command(exe)
			cmd.Env = append(os.Environ(), childStore+"="+server.URL)
			cmd.Stderr = os.Stderr
			out, err := cmd.StdoutPipe()
			if err == nil {
				err = cmd.Start()
			}
			if err != nil {
				t.Error(err)
				return
			}
			for lines := bufio.NewScanner(out); lines.Scan(); {
				step, err := strconv.Atoi(lines.Text())
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				won[step]++
				mu.Unlock()
			}
			if err := cmd.Wait(); err != nil {
				t.Errorf("a process ended: %v", err)
			}
		})
	}
	all.Wait()
	for step := 1; step <= lastStep; step++ {
		if won[step] != 1 {
			t.Errorf("step %d was won %d times", step, won[step])
		}
	}
	if len(won) != lastStep {
		t.Errorf("%d steps were won", len(won))
	}
	storetest.Check(t, s)
}
