package sqlite

import (
	"context"
	"database/sql/driver"

	"github.com/flowtui/flowtui/stores"
)

// prepared is a statement of the writer with the values that are bound to it.
// A value that is still the one of the statement's last use is not boxed again:
// of a run's rows most columns never change.
type prepared struct {
	stmt driver.Stmt
	list []driver.NamedValue
	n    int // values bound for the next use
}

// next is the place of the next value.
func (p *prepared) next() *driver.Value {
	if p.n == len(p.list) {
		p.list = append(p.list, driver.NamedValue{Ordinal: p.n + 1})
	}
	p.n++
	return &p.list[p.n-1].Value
}

func (p *prepared) texts(list ...string) {
	for _, s := range list {
		v := p.next()
		if old, ok := (*v).(string); !ok || old != s {
			*v = s
		}
	}
}

func (p *prepared) numbers(list ...int64) {
	for _, n := range list {
		v := p.next()
		if old, ok := (*v).(int64); !ok || old != n {
			*v = n
		}
	}
}

// blobs keeps nil out of columns that are NOT NULL.
func (p *prepared) blobs(list ...[]byte) {
	for _, b := range list {
		if b == nil {
			b = []byte{}
		}
		*p.next() = b
	}
}

func (p *prepared) null() { *p.next() = nil }

// values binds what is not worth a method of its own.
func (p *prepared) values(args []any) error {
	for _, arg := range args {
		v, err := driver.DefaultParameterConverter.ConvertValue(arg)
		if err != nil {
			return err
		}
		*p.next() = v
	}
	return nil
}

func (p *prepared) place(l stores.Place) { p.texts(l.Owner, l.Run, l.Store, l.Incarnation) }

func (p *prepared) seal(s stores.Seal) {
	p.numbers(int64(s.Format))
	p.texts(s.KeyID)
	p.blobs(s.Prev, s.MAC)
}

func (p *prepared) exec(ctx context.Context) (driver.Result, error) {
	defer p.release()
	return p.stmt.(driver.StmtExecContext).ExecContext(ctx, p.list[:p.n])
}

func (p *prepared) query(ctx context.Context) (driver.Rows, error) {
	defer p.release()
	return p.stmt.(driver.StmtQueryContext).QueryContext(ctx, p.list[:p.n])
}

// release lets go of payloads: the driver has copied them.
func (p *prepared) release() {
	for i := range p.list {
		if _, ok := p.list[i].Value.([]byte); ok {
			p.list[i].Value = nil
		}
	}
}
