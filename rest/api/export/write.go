package export

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/rest/api/wire"
	"github.com/postrider/postrider/runtime/base/intake"
	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/storage/page"
)

// export is an export in progress.
type export[I, T, R any] struct {
	of    List[I, T, R]
	call  *api.Call
	in    *I
	csv   bool
	needs rights.Operation
	turn  string
	kept  time.Time // when the turn was taken or last extended
}

const (
	piece   = 32 << 10 // bytes written between two checks of the turn
	endTime = 5 * time.Second
)

func (x *export[I, T, R]) mediaType() string {
	if x.csv {
		return csvType + "; charset=utf-8; header=present"
	}
	return jsonLines
}

func (x *export[I, T, R]) fileName() string {
	kind := ".jsonl"
	if x.csv {
		kind = ".csv"
	}
	return x.of.Name + "-" + time.Now().UTC().Format("20060102-150405") + kind
}

// readPage reads the page at a cursor.
func (x *export[I, T, R]) readPage(ctx context.Context, cursor string) (found page.Page[T], err error) {
	err = x.of.Turns.Read(ctx, func() error {
		found, err = x.of.Page(ctx, x.call, x.in, page.Request{Limit: page.MaxLimit, Cursor: cursor})
		return err
	})
	return found, err
}

// writePages writes the first page and all later ones.
func (x *export[I, T, R]) writePages(r *http.Request, w http.ResponseWriter, found page.Page[T]) error {
	w.Header().Set("Content-Disposition", `attachment; filename="`+x.fileName()+`"`)
	to, flush := x.call.Budget().NewWriter(w), http.NewResponseController(w).Flush
	var out []byte
	if x.csv {
		out = x.of.headerLine()
	}
	for {
		var err error
		for _, item := range found.Items {
			if out, err = x.appendRecord(out, x.of.Show(item)); err != nil {
				return err
			}
		}
		release, err := x.call.Budget().AcquireMemory(r.Context(), x.call.Owner(), int64(cap(out)))
		if err != nil {
			return err
		}
		err = x.sendPage(r, to, out)
		release()
		if err != nil {
			return err
		}
		if !found.HasMore {
			return to.End()
		}
		if err := flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
			return err
		}
		out = out[:0]
		if found, err = x.readPage(r.Context(), found.NextCursor); err != nil {
			return err
		}
	}
}

// appendRecord appends one record.
func (x *export[I, T, R]) appendRecord(out []byte, record R) ([]byte, error) {
	if !x.csv {
		line, err := wire.Marshal(record)
		return append(append(out, line...), '\n'), err
	}
	return x.of.appendCells(out, record), nil
}

// sendPage writes a page in pieces. Before each piece, it checks whether the export can continue.
func (x *export[I, T, R]) sendPage(r *http.Request, to *intake.PacedWriter, out []byte) error {
	for len(out) > 0 {
		if err := x.extendTurn(r); err != nil {
			return err
		}
		wrote, err := to.Write(out[:min(len(out), piece)])
		if err != nil {
			return err
		}
		out = out[wrote:]
	}
	return nil
}

// extendTurn periodically extends the turn and checks whether the caller still has permission.
func (x *export[I, T, R]) extendTurn(r *http.Request) error {
	if time.Since(x.kept) < x.of.Turns.ExtendInterval() {
		return nil
	}
	if err := x.call.StillAllowed(r, x.needs); err != nil {
		return err
	}
	x.kept = time.Now()
	return x.of.Turns.Extend(r.Context(), x.call.AccountID, x.turn)
}

// endTurn returns the turn, even if the client has disconnected.
func (x *export[I, T, R]) endTurn(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTime)
	defer cancel()
	if err := x.of.Turns.End(ctx, x.call.AccountID, x.turn); err != nil {
		telemetry.SetError(ctx, "", err) // the turn expires automatically
	}
}
