//go:build unix

package testservers

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

const (
	postgresUser     = "flowtui" // a superuser
	postgresDatabase = "postgres"
)

// Postgres starts a PostgreSQL server with one superuser, whose password is
// asked for on every connection.
func Postgres(t testing.TB) *Server {
	t.Helper()
	programs, err := postgresPrograms(debianPrograms)
	if err != nil {
		missing(t, err.Error()+"; install the package postgresql")
	}
	owner, err := postgresOwner()
	if err != nil {
		t.Fatal(err)
	}
	p := &postgres{programs: programs, folder: tempFolder(t), password: rand.Text(), owner: owner}
	if err := p.initialize(); err != nil {
		t.Fatal(err)
	}
	return newServer(t, p.folder, p)
}

type postgres struct {
	programs, folder, password string
	owner                      *syscall.Credential // nil: the user of the test
}

func (p *postgres) data() string { return filepath.Join(p.folder, "data") }

// initialize makes the data folder.
func (p *postgres) initialize() error {
	secret := filepath.Join(p.folder, "password")
	if err := os.WriteFile(secret, []byte(p.password), 0o600); err != nil {
		return err
	}
	if p.owner != nil {
		for _, path := range []string{p.folder, secret} {
			if err := os.Chown(path, int(p.owner.Uid), int(p.owner.Gid)); err != nil {
				return err
			}
		}
	}
	logFile := filepath.Join(p.folder, "initdb.log")
	proc, err := launch(p.run("initdb", "--pgdata", p.data(), "--username", postgresUser,
		"--pwfile", secret, "--auth", "scram-sha-256", "--encoding", "UTF8", "--no-locale",
		"--no-sync"), logFile) // no test needs the empty database to outlive a power cut
	if err != nil {
		return err
	}
	<-proc.exited
	if !proc.cmd.ProcessState.Success() {
		text, err := os.ReadFile(logFile)
		return errors.Join(fmt.Errorf("initdb: %v\n%s", proc.cmd.ProcessState, text), err)
	}
	return os.Remove(secret)
}

func (p *postgres) run(program string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(p.programs, program), args...)
	cmd.Dir = p.folder // its user may not enter the test's own
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: p.owner}
	return cmd
}

// command keeps shared memory in the data folder, where a killed server's part
// goes away with the folder.
func (p *postgres) command(port int) *exec.Cmd {
	return p.run("postgres", "-D", p.data(), "-p", strconv.Itoa(port),
		"-c", "listen_addresses=127.0.0.1",
		"-c", "unix_socket_directories="+p.folder,
		"-c", "fsync=on",
		"-c", "dynamic_shared_memory_type=mmap")
}

func (p *postgres) url(port int) string {
	u := url.URL{Scheme: "postgres", User: url.UserPassword(postgresUser, p.password),
		Host: address(port), Path: "/" + postgresDatabase, RawQuery: "sslmode=disable"}
	return u.String()
}

// ping asks to log in and takes the demand for a password as the answer. That
// demand could come from another server on the port, so our own must say that
// it listens.
func (p *postgres) ping(port, pid int, limit time.Duration) error {
	status := p.status()
	if ready := status[stateLine] == "ready" || status[stateLine] == "standby"; !ready || status[pidLine] != strconv.Itoa(pid) {
		return errors.New("postgres is not ready yet")
	}
	return greetPostgres(port, limit)
}

// greetPostgres begins to log in and waits until it is asked how.
func greetPostgres(port int, limit time.Duration) error {
	conn, err := net.DialTimeout("tcp", address(port), limit)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(limit)); err != nil {
		return err
	}
	const version = 3 << 16
	hello := binary.BigEndian.AppendUint32(nil, version)
	hello = fmt.Appendf(hello, "user\x00%s\x00database\x00%s\x00\x00", postgresUser, postgresDatabase)
	size := binary.BigEndian.AppendUint32(nil, uint32(len(hello)+4)) // it counts itself
	if _, err := conn.Write(append(size, hello...)); err != nil {
		return err
	}
	var answer [1]byte
	if _, err := io.ReadFull(conn, answer[:]); err != nil {
		return err
	}
	if answer[0] != 'R' { // "authentication"
		return fmt.Errorf("postgres answered with a message %q", answer)
	}
	return nil
}

// The lines of postmaster.pid that are used here.
const (
	pidLine    = 0
	memoryLine = 6 // key and number of the System V shared memory
	stateLine  = 7
	lineCount  = 8
)

// status is what the server writes about itself into its data folder; the
// lines are empty while it does not run.
func (p *postgres) status() [lineCount]string {
	var status [lineCount]string
	text, err := os.ReadFile(filepath.Join(p.data(), "postmaster.pid"))
	if err != nil {
		return status
	}
	for i, line := range strings.SplitN(string(text), "\n", lineCount+1) {
		if i < lineCount {
			status[i] = strings.TrimSpace(line)
		}
	}
	return status
}

// forget removes the shared memory that a killed server leaves in the system,
// which has room for a few thousand of them only.
func (p *postgres) forget() {
	if memory := strings.Fields(p.status()[memoryLine]); len(memory) == 2 {
		_ = exec.Command("ipcrm", "-m", memory[1]).Run() // best effort: it is 56 bytes
	}
}
