//go:build unix

package testservers

import (
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// debianPgBouncer is where Debian keeps it: out of the PATH of most users.
const debianPgBouncer = "/usr/sbin/pgbouncer"

// PgBouncer starts a pooler in transaction mode before a PostgreSQL server. It
// has two connections to the server for all its clients, and asks them for no
// password.
func PgBouncer(t testing.TB, server *Server) *Server {
	t.Helper()
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		program, err = exec.LookPath(debianPgBouncer)
	}
	if err != nil {
		missing(t, "pgbouncer is not installed; install the package pgbouncer")
	}
	behind, ok := server.kind.(*postgres)
	if !ok {
		t.Fatal("PgBouncer needs a PostgreSQL server")
	}
	folder := behind.poolerFolder(t)
	return newServer(t, folder, &pgbouncer{program: program, folder: folder, behind: behind, server: server})
}

// poolerFolder is a folder of the user that runs the server: PgBouncer does not
// run as root either.
func (p *postgres) poolerFolder(t testing.TB) string {
	t.Helper()
	folder := tempFolder(t)
	if p.owner != nil {
		if err := os.Chown(folder, int(p.owner.Uid), int(p.owner.Gid)); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

type pgbouncer struct {
	program string
	folder  string
	behind  *postgres
	server  *Server
}

// command writes the settings into a file that only the user of the pooler can
// read: the arguments of a process are there for every user to see.
func (b *pgbouncer) command(port int) *exec.Cmd {
	file := filepath.Join(b.folder, "pgbouncer.ini")
	text := fmt.Sprintf(`
[databases]
* = host=127.0.0.1 port=%d user=%s password='%s'

[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 2
max_client_conn = 500
`, b.server.port, postgresUser, strings.ReplaceAll(b.behind.password, "'", "''"), port)
	err := os.WriteFile(file, []byte(text), 0o600)
	if err == nil && b.behind.owner != nil {
		err = os.Chown(file, int(b.behind.owner.Uid), int(b.behind.owner.Gid))
	}
	cmd := exec.Command(b.program, file)
	if err != nil {
		cmd.Err = err
	}
	cmd.Dir = b.folder
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: b.behind.owner}
	return cmd
}

func (*pgbouncer) url(port int) string {
	u := url.URL{Scheme: "postgres", User: url.User(postgresUser), Host: address(port), Path: "/" + postgresDatabase, RawQuery: "sslmode=disable"}
	return u.String()
}

// ping logs in to the pooler. A pooler that could not have its port has exited.
func (*pgbouncer) ping(port, _ int, limit time.Duration) error { return greetPostgres(port, limit) }

func (*pgbouncer) forget() {}
