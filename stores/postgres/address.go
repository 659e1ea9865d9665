package postgres

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/flowtui/flowtui/stores"
)

// connectLimit is how long a connection may take to open when the URL does not
// say it with connect_timeout.
const connectLimit = 10 * time.Second

// address is where a store is, taken from its URL.
type address struct {
	names
	pool     *pgxpool.Config
	location string // the URL without its password
}

// IsURL reports whether a location is of a kind that Open takes.
func IsURL(location string) bool {
	return strings.HasPrefix(location, "postgres://") || strings.HasPrefix(location, "postgresql://")
}

// parseAddress reads a URL. Its errors never repeat it: a malformed one may
// have the password anywhere.
func parseAddress(spec string) (a address, err error) {
	u, err := url.Parse(spec)
	if err != nil {
		return a, fmt.Errorf("%w: the URL cannot be read; characters like / ? # @ : %% in a user or a password are written as %%2F and so on", stores.ErrInvalid)
	}
	if u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return a, fmt.Errorf("%w: the URL starts with postgres:// or postgresql://", stores.ErrInvalid)
	}
	q, err := takeOurs(u)
	if err != nil {
		return a, fmt.Errorf("%w: what follows the ? of the URL cannot be read", stores.ErrInvalid)
	}
	schema, prefix := DefaultSchema, q.Get("prefix")
	if q.Has("schema") {
		schema = q.Get("schema")
	}
	if len(q["schema"]) > 1 || len(q["prefix"]) > 1 {
		return a, fmt.Errorf("%w: schema and prefix can be given once", stores.ErrInvalid)
	}
	if a.names, err = newNames(schema, prefix); err != nil {
		return a, err
	}
	if a.pool, err = pgxpool.ParseConfig(u.String()); err != nil {
		return a, fmt.Errorf("%w: %s", stores.ErrInvalid, withoutSecrets(err, u, q))
	}
	conf := a.pool.ConnConfig
	if !q.Has("connect_timeout") {
		conf.ConnectTimeout = connectLimit
	}
	conf.RuntimeParams["application_name"] = cmp.Or(conf.RuntimeParams["application_name"], "flowtui")
	conf.RuntimeParams["client_encoding"] = "UTF8"
	a.pool.AfterConnect = greet
	a.location = a.locate()
	return a, nil
}

// takeOurs reads the parameters of a URL and leaves it those of the driver, as
// they are written. A + is a + there, as for libpq.
func takeOurs(u *url.URL) (url.Values, error) {
	q, rest := url.Values{}, []string{}
	for pair := range strings.SplitSeq(u.RawQuery, "&") {
		key, value, _ := strings.Cut(pair, "=")
		key, err1 := url.PathUnescape(key)
		text, err2 := url.PathUnescape(value)
		if err := errors.Join(err1, err2); err != nil {
			return nil, err
		}
		if q.Add(key, text); key != "schema" && key != "prefix" {
			rest = append(rest, pair)
		}
	}
	u.RawQuery = strings.Join(rest, "&")
	return q, nil
}

// withoutSecrets is what the driver says of a URL, without the URL itself.
func withoutSecrets(err error, u *url.URL, q url.Values) string {
	text := err.Error()
	if _, after, ok := strings.Cut(text, "`: "); ok {
		text = after
	}
	secrets := q["password"]
	if p, ok := u.User.Password(); ok {
		secrets = append(secrets, p, url.QueryEscape(p), url.PathEscape(p))
	}
	for _, s := range secrets {
		if s != "" && strings.Contains(text, s) {
			return "a setting of the URL is not valid"
		}
	}
	return text
}

func escape(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }

func (a address) locate() string {
	conf := a.pool.ConnConfig
	u := url.URL{Scheme: "postgres", Path: "/" + conf.Database}
	if strings.HasPrefix(conf.Host, "/") {
		u.RawQuery = "host=" + conf.Host // a socket
	} else {
		u.Host = net.JoinHostPort(conf.Host, strconv.Itoa(int(conf.Port)))
	}
	if conf.User != "" {
		u.User = url.User(conf.User)
	}
	var extra []string
	if u.RawQuery != "" {
		extra = append(extra, u.RawQuery)
	}
	if a.schema != DefaultSchema {
		extra = append(extra, "schema="+escape(a.schema))
	}
	if a.prefix != "" {
		extra = append(extra, "prefix="+escape(a.prefix))
	}
	u.RawQuery = strings.Join(extra, "&")
	return u.String()
}
