package redis_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	client "github.com/redis/go-redis/v9"

	"github.com/flowtui/flowtui/internal/testservers"
	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/redis"
	"github.com/flowtui/flowtui/stores/storetest"
)

// scheme changes the scheme of a URL.
func scheme(t testing.TB, rawURL, scheme string) string {
	t.Helper()
	_, rest, _ := strings.Cut(rawURL, "://")
	return scheme + "://" + rest
}

func password(t testing.TB, rawURL string) string {
	t.Helper()
	u, err := url.Parse(rawURL)
	if err != nil {
		t.Fatal(err)
	}
	p, _ := u.User.Password()
	return p
}

// cluster starts two servers of one cluster; the first one has all slots.
func cluster(t *testing.T) (first, second *testservers.Server) {
	t.Helper()
	first, second = testservers.RedisWith(t, "cluster-enabled yes"), testservers.RedisWith(t, "cluster-enabled yes")
	a, b := raw(t, first.URL), raw(t, second.URL)
	must(t, a, "CLUSTER", "ADDSLOTSRANGE", 0, 16383)
	host, port, err := net.SplitHostPort(b.Options().Addr)
	if err != nil {
		t.Fatal(err)
	}
	must(t, a, "CLUSTER", "MEET", host, port)
	for _, c := range []*client.Client{a, b} {
		waitFor(t, func() bool {
			info, err := c.ClusterInfo(t.Context()).Result()
			return err == nil && strings.Contains(info, "cluster_state:ok") && strings.Contains(info, "cluster_known_nodes:2")
		})
	}
	must(t, b, "CONFIG", "SET", "requirepass", password(t, first.URL)) // a cluster has one
	u, err := url.Parse(second.URL)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword("", password(t, first.URL))
	second.URL = u.String()
	return first, second
}

// A store in a cluster has one slot, and is found again when that is moved.
func TestScenario47Cluster(t *testing.T) {
	first, second := cluster(t)
	address := strings.TrimSuffix(scheme(t, first.URL, "redis+cluster"), "/0")
	s := create(t, address, "r", "other")
	storetest.Check(t, s)
	notices, err := s.Watch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	save(t, s, storetest.Step(place("r"), 1))
	<-notices

	_, err = redis.Open(t.Context(), second.URL, redis.Options{})
	fails(t, "not as a cluster", err, stores.ErrUnavailable, "redis+cluster://")

	a, b := raw(t, first.URL), raw(t, second.URL)
	slot := must(t, a, "CLUSTER", "KEYSLOT", "{flowtui}:meta")
	from, to := must(t, a, "CLUSTER", "MYID"), must(t, b, "CLUSTER", "MYID")
	must(t, b, "CLUSTER", "SETSLOT", slot, "IMPORTING", from)
	must(t, a, "CLUSTER", "SETSLOT", slot, "MIGRATING", to)
	keys := must(t, a, "CLUSTER", "GETKEYSINSLOT", slot, 1000).([]any)
	host, port, _ := net.SplitHostPort(b.Options().Addr)
	move := append([]any{"MIGRATE", host, port, "", 0, 5000, "AUTH", password(t, second.URL), "KEYS"}, keys...)
	must(t, a, move[:len(move)-len(keys)+1]...) // one key of many
	fails(t, "in the middle", s.Save(t.Context(), storetest.Step(place("r"), 2)), stores.ErrBusy, "nothing was changed")
	must(t, a, append(move[:len(move)-len(keys):len(move)-len(keys)], keys[1:]...)...)
	for _, c := range []*client.Client{b, a} {
		must(t, c, "CLUSTER", "SETSLOT", slot, "NODE", to)
	}
	save(t, s, storetest.Step(place("r"), 2))
	if last, err := s.Latest(t.Context(), place("r").Key); err != nil || last.Step != 2 {
		t.Errorf("latest is step %d, %v", last.Step, err)
	}
	if n, err := b.HGet(t.Context(), runKey("r"), "step").Result(); err != nil || n != "2" {
		t.Errorf("the other server has step %s, %v", n, err)
	}
	storetest.Check(t, s)
}

// Sentinels know the primary; after a failover the store is where they say.
func TestScenario47Sentinel(t *testing.T) {
	first, second := testservers.Redis(t), testservers.Redis(t)
	secret := password(t, first.URL)
	b := raw(t, second.URL)
	follow(t, second.URL, first.URL)
	must(t, raw(t, first.URL), "CONFIG", "SET", "masterauth", secret)
	must(t, b, "CONFIG", "SET", "requirepass", secret)
	host, port, err := net.SplitHostPort(raw(t, first.URL).Options().Addr)
	if err != nil {
		t.Fatal(err)
	}
	sentinel := testservers.RedisSentinel(t,
		fmt.Sprintf("sentinel monitor group %s %s 1", host, port), "sentinel auth-pass group "+secret,
		"sentinel down-after-milliseconds group 500", "sentinel failover-timeout group 2000")
	address := with(t, scheme(t, sentinel.URL, "redis+sentinel"), "master_name", "group", "password", secret, "read_timeout", "500ms")
	s := create(t, address, "r")
	info, err := s.Info(t.Context())
	if err != nil || strings.Contains(info.Location, secret) || info.ReadOnly {
		t.Errorf("info is %+v, %v", info, err)
	}
	knows := client.NewSentinelClient(raw(t, sentinel.URL).Options())
	defer knows.Close()
	waitFor(t, func() bool { r, err := knows.Replicas(t.Context(), "group").Result(); return err == nil && len(r) == 1 })
	waitFor(t, func() bool {
		n, err := client.NewClient(&client.Options{Addr: b.Options().Addr, Password: secret}).HGet(t.Context(), runKey("r"), "step").Result()
		return err == nil && n == "0"
	})

	first.Kill()
	waitFor(t, func() bool { return s.Save(t.Context(), storetest.Step(place("r"), 1)) == nil })
	storetest.Check(t, s)
}

// certificate makes a key and a certificate that vouches for itself.
func certificate(t *testing.T) (cert, key string) {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &k.PublicKey, k)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalECPrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name, kind string, b []byte) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: b}), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	return write("cert.pem", "CERTIFICATE", der), write("key.pem", "EC PRIVATE KEY", private)
}

func TestTLS(t *testing.T) {
	cert, key := certificate(t)
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	_ = l.Close()
	server := testservers.RedisWith(t, fmt.Sprintf("tls-port %d", port), "tls-cert-file "+cert, "tls-key-file "+key,
		"tls-ca-cert-file "+cert, "tls-auth-clients optional")
	u, err := url.Parse(scheme(t, server.URL, "rediss"))
	if err != nil {
		t.Fatal(err)
	}
	u.Host = fmt.Sprintf("127.0.0.1:%d", port)
	create(t, with(t, u.String(), "ca", cert), "r")
	for name, address := range map[string]string{
		"ca":                 with(t, u.String(), "ca", cert),
		"insecure":           with(t, u.String(), "insecure", "true"),
		"client certificate": with(t, u.String(), "ca", cert, "cert", cert, "key", key),
	} {
		s := open(t, address, redis.Options{})
		if last, err := s.Latest(t.Context(), place("r").Key); err != nil || last.Step != 0 {
			t.Errorf("%s: %+v, %v", name, last, err)
		}
	}
	_, err = redis.Open(t.Context(), u.String(), redis.Options{})
	fails(t, "an unknown certificate", err, stores.ErrUnavailable, "certificate")
	u.Scheme = "redis"
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	_, err = redis.Open(ctx, u.String(), redis.Options{})
	fails(t, "without TLS", err, stores.ErrUnavailable)
}
