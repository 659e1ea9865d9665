//go:build unix

package testservers

import (
	"bufio"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Redis starts a Redis server that keeps nothing on disk.
func Redis(t testing.TB) *Server {
	t.Helper()
	return RedisWith(t)
}

// RedisWith is Redis with further lines of its configuration.
func RedisWith(t testing.TB, settings ...string) *Server {
	t.Helper()
	r := newRedis(t)
	r.settings = strings.Join(settings, "\n")
	return newServer(t, r.folder, r)
}

// RedisSentinel starts a Sentinel, which finds the primary of a group of
// servers. The lines of its configuration say which one.
func RedisSentinel(t testing.TB, settings ...string) *Server {
	t.Helper()
	r := newRedis(t)
	r.settings, r.sentinel = strings.Join(settings, "\n"), true
	return newServer(t, r.folder, r)
}

func newRedis(t testing.TB) *redis {
	t.Helper()
	program, err := exec.LookPath("redis-server")
	if err != nil {
		missing(t, "redis-server is not installed; install the package redis-server")
	}
	return &redis{program: program, folder: tempFolder(t), password: rand.Text()}
}

type redis struct {
	program, folder, password string
	settings                  string
	sentinel                  bool
}

// command gives the settings on standard input: the arguments of a process,
// and so the password, are there for every user to see.
func (r *redis) command(port int) *exec.Cmd {
	config := fmt.Sprintf("bind 127.0.0.1\nport %d\nrequirepass %s\ndaemonize no\n", port, r.password)
	if !r.sentinel {
		config += "save \"\"\nappendonly no\n"
	}
	config += r.settings + "\n"
	cmd := exec.Command(r.program, "-")
	cmd.Stdin = strings.NewReader(config)
	if r.sentinel { // it keeps what it learns in its file
		file := filepath.Join(r.folder, "sentinel.conf")
		if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
			return exec.Command(file) // which fails, and says that it is not there
		}
		cmd = exec.Command(r.program, file, "--sentinel")
	}
	cmd.Dir = r.folder
	return cmd
}

func (r *redis) url(port int) string {
	u := url.URL{Scheme: "redis", User: url.UserPassword("", r.password), Host: address(port), Path: "/0"}
	return u.String()
}

func (r *redis) ping(port, _ int, limit time.Duration) error {
	replies, err := r.say(port, limit, []string{"PING"})
	if err == nil && !slices.Equal(replies, []string{"PONG"}) {
		err = fmt.Errorf("redis answered %q", replies)
	}
	return err
}

func (*redis) forget() {}

// say logs in, sends the commands and returns their replies.
func (r *redis) say(port int, limit time.Duration, commands ...[]string) ([]string, error) {
	conn, err := net.DialTimeout("tcp", address(port), limit)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(limit)); err != nil {
		return nil, err
	}
	in := bufio.NewReader(conn)
	var replies []string
	for _, command := range slices.Insert(commands, 0, []string{"AUTH", r.password}) {
		if err := writeCommand(conn, command); err != nil {
			return nil, err
		}
		reply, err := readReply(in)
		if err != nil {
			return nil, err
		}
		replies = append(replies, reply)
	}
	return replies[1:], nil
}

func writeCommand(w io.Writer, command []string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(command))
	for _, word := range command {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(word), word)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// readReply reads a reply that is one text.
func readReply(in *bufio.Reader) (string, error) {
	line, err := in.ReadString('\n')
	if err != nil {
		return "", err
	}
	mark, rest := line[0], strings.TrimSuffix(line[1:], "\r\n")
	switch mark {
	case '+', ':':
		return rest, nil
	case '-':
		return "", errors.New("redis: " + rest)
	case '$':
		size, err := strconv.Atoi(rest)
		if err != nil || size < 0 {
			return "", fmt.Errorf("redis sent no text but %q", line)
		}
		text := make([]byte, size+len("\r\n"))
		if _, err := io.ReadFull(in, text); err != nil {
			return "", err
		}
		return string(text[:size]), nil
	}
	return "", fmt.Errorf("redis sent %q", line)
}
