package redis

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	client "github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/flowtui/flowtui/stores"
)

// config is what a URL says.
type config struct {
	location string // the URL without any password
	prefix   string
	ttl      time.Duration // 0: never
	user     string
	connect  func() client.UniversalClient
}

// schemes are those of a URL, and the ones that the client library knows.
var schemes = map[string]string{
	"redis": "redis", "rediss": "rediss", "redis+unix": "unix",
	"redis+cluster": "redis", "rediss+cluster": "rediss",
	"redis+sentinel": "redis", "rediss+sentinel": "rediss",
}

// IsURL reports whether a location is one of this package's.
func IsURL(location string) bool {
	scheme, _, ok := strings.Cut(location, "://")
	return ok && schemes[scheme] != ""
}

// parseURL takes this package's parameters out of a URL and leaves the rest to
// the client library. Its errors repeat nothing of the URL: that has a password.
func parseURL(raw string) (c config, err error) {
	u, err := url.Parse(raw)
	if err != nil {
		return c, fmt.Errorf("%w: the URL cannot be read; in a user name and a password / is %%2F, # is %%23, ? is %%3F, %% is %%25", stores.ErrInvalid)
	}
	if schemes[u.Scheme] == "" {
		return c, fmt.Errorf("%w: the scheme of the URL is none of redis, rediss, redis+cluster, rediss+cluster, redis+sentinel, rediss+sentinel, redis+unix", stores.ErrInvalid)
	}
	q, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return c, fmt.Errorf("%w: the parameters of the URL cannot be read", stores.ErrInvalid)
	}
	if err := c.own(q); err != nil {
		return c, err
	}
	secure, err := tlsFrom(q, strings.HasPrefix(u.Scheme, "rediss"))
	if err != nil {
		return c, err
	}
	c.location = locate(u, q, c.prefix)
	c.user = u.User.Username()
	for _, name := range []string{"prefix", "ttl", "ca", "cert", "key", "insecure"} {
		q.Del(name)
	}
	bare := *u
	bare.Scheme, bare.RawQuery, bare.Fragment = schemes[u.Scheme], q.Encode(), ""
	_, mode, _ := strings.Cut(u.Scheme, "+")
	c.connect, err = connector(mode, bare.String(), secure)
	if err != nil {
		return c, fmt.Errorf("%w: %s", stores.ErrInvalid, strings.TrimPrefix(err.Error(), "redis: "))
	}
	if mode == "sentinel" {
		c.user = q.Get("username") // the other one is for the sentinels
	}
	return c, nil
}

// own reads the parameters prefix and ttl.
func (c *config) own(q url.Values) error {
	c.prefix = DefaultPrefix
	if q.Has("prefix") {
		c.prefix = q.Get("prefix")
	}
	if !prefixes.MatchString(c.prefix) {
		return fmt.Errorf("%w: prefix %q: it has 1 to 64 of the characters A-Z a-z 0-9 _ . : -, the first one a letter or a digit", stores.ErrInvalid, c.prefix)
	}
	text := q.Get("ttl")
	if text == "" {
		return nil
	}
	ttl, err := time.ParseDuration(text)
	if seconds, err2 := strconv.ParseInt(text, 10, 32); err2 == nil {
		ttl, err = time.Duration(seconds)*time.Second, nil
	}
	if err != nil || ttl < 0 || ttl > 0 && ttl < time.Millisecond {
		return fmt.Errorf("%w: ttl %q: it is a number of seconds or a duration like 720h, at least 1ms, or 0 for never", stores.ErrInvalid, text)
	}
	c.ttl = ttl
	return nil
}

// locate writes the URL without what may be secret.
func locate(u *url.URL, q url.Values, prefix string) string {
	shown := url.Values{"prefix": {prefix}}
	for _, name := range []string{"addr", "db", "master_name"} {
		if q.Has(name) {
			shown[name] = q[name]
		}
	}
	l := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawQuery: shown.Encode()}
	if name := u.User.Username(); name != "" {
		l.User = url.User(name)
	}
	return l.String()
}

// tlsFrom reads the parameters about TLS. Not to check the server's certificate
// takes the word insecure.
func tlsFrom(q url.Values, secure bool) (*tls.Config, error) {
	if q.Has("skip_verify") {
		return nil, fmt.Errorf("%w: the parameter is insecure=true, not skip_verify", stores.ErrInvalid)
	}
	if !secure {
		for _, name := range []string{"ca", "cert", "key", "insecure"} {
			if q.Has(name) {
				return nil, fmt.Errorf("%w: the parameter %s is for rediss://", stores.ErrInvalid, name)
			}
		}
		return nil, nil
	}
	t := &tls.Config{MinVersion: tls.VersionTLS12}
	if q.Has("insecure") {
		var err error
		if t.InsecureSkipVerify, err = strconv.ParseBool(q.Get("insecure")); err != nil {
			return nil, fmt.Errorf("%w: insecure is true or false", stores.ErrInvalid)
		}
	}
	if file := q.Get("ca"); file != "" {
		pem, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("%w: ca: %w", stores.ErrInvalid, err)
		}
		t.RootCAs = x509.NewCertPool()
		if !t.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%w: ca: there is no certificate in %s", stores.ErrInvalid, file)
		}
	}
	if cert, key := q.Get("cert"), q.Get("key"); cert != "" || key != "" {
		pair, err := tls.LoadX509KeyPair(cert, key)
		if err != nil {
			return nil, fmt.Errorf("%w: cert and key: %w", stores.ErrInvalid, err)
		}
		t.Certificates = []tls.Certificate{pair}
	}
	return t, nil
}

// connector parses the rest of the URL. No client sends anything twice: whether
// that is safe is not its to know.
func connector(mode, bare string, secure *tls.Config) (func() client.UniversalClient, error) {
	quiet := &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	switch mode {
	case "cluster":
		o, err := client.ParseClusterURL(bare)
		if err != nil {
			return nil, err
		}
		o.MaxRetries, o.MaxRedirects, o.DialerRetries = -1, -1, 1
		o.ContextTimeoutEnabled, o.DisableIdentity, o.PipelinePoolSize, o.MaintNotificationsConfig = true, true, -1, quiet
		o.TLSConfig = secure
		o.Dialer = dialer(timeout(o.DialTimeout), secure)
		return func() client.UniversalClient { return client.NewClusterClient(o) }, nil
	case "sentinel":
		o, err := client.ParseFailoverURL(bare)
		if err != nil {
			return nil, err
		}
		if o.MasterName == "" {
			return nil, errors.New("a URL of sentinels has the parameter master_name")
		}
		slices.Sort(o.SentinelAddrs)
		o.MaxRetries, o.DialerRetries = -1, 1
		o.ContextTimeoutEnabled, o.DisableIdentity, o.PipelinePoolSize = true, true, -1
		o.ReplicaOnly, o.RouteByLatency, o.RouteRandomly = false, false, false
		o.TLSConfig = secure
		o.Dialer = dialer(timeout(o.DialTimeout), secure)
		return func() client.UniversalClient { return client.NewFailoverClient(o) }, nil
	}
	o, err := client.ParseURL(bare)
	if err != nil {
		return nil, err
	}
	o.MaxRetries, o.DialerRetries = -1, 1
	o.ContextTimeoutEnabled, o.DisableIdentity, o.PipelinePoolSize, o.MaintNotificationsConfig = true, true, -1, quiet
	o.TLSConfig = secure
	o.Dialer = dialer(timeout(o.DialTimeout), secure)
	return func() client.UniversalClient { return client.NewClient(o) }, nil
}
