package export

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/postrider/postrider/modules/accounts/exports"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/rest/api/wire"
	"github.com/postrider/postrider/runtime/base/telemetry"
	"github.com/postrider/postrider/runtime/storage/page"
)

// Turns allows each account one export at a time.
type Turns interface {
	Begin(ctx context.Context, accountID string) (turn string, err error)
	ExtendInterval() time.Duration // how often a turn must be renewed
	Extend(ctx context.Context, accountID, turn string) error
	End(ctx context.Context, accountID, turn string) error
	Read(ctx context.Context, read func() error) error
}

var _ Turns = (*exports.Service)(nil)

// Input is the parameter that every export has. The input of an export embeds it, along with the filters of its list.
type Input struct {
	Format string `query:"format" enum:"jsonl,csv" default:"jsonl" doc:"jsonl: JSON Lines, one record per line, as in the list. csv: CSV with a header line (RFC 4180)."`
}

func (i *Input) exportFormat() string { return i.Format }

// List is a list that can be exported. I is the input of the export, T the type of the service, R its record.
type List[I, T, R any] struct {
	Turns   Turns
	Name    string // file name without extension, such as "emails"
	Page    func(ctx context.Context, c *api.Call, in *I, r page.Request) (page.Page[T], error)
	Show    func(T) R
	Columns []Column[R]
	Example R
}

// answer is a response that is written page by page.
type answer struct {
	ContentType string `header:"Content-Type" hidden:"true"`
	Body        func(huma.Context)
}

const about = "Records are in the order of the list, newest first, and their number is not limited.\n\nThe response " +
	"is streamed, so its status only confirms that the export has started. If an export fails, the connection is " +
	"aborted: a response that ends properly (last chunk or end of stream) is complete. Records that are created in " +
	"the meantime are not included.\n\nIn CSV, `null` is an empty cell. A cell that starts with `=`, `+`, `-`, `@`, " +
	"a tab or a carriage return is prefixed with an apostrophe, so that spreadsheets do not interpret it as a " +
	"formula.\n\nAn account can run one export at a time; another one fails with 429 `export_in_progress`. Keys " +
	"with the scope `sending` cannot export."

// Add adds the operation that exports a list.
func Add[I, T, R any](g *api.TagGroup, op api.Operation, of List[I, T, R]) {
	op.Method, op.Unlogged = http.MethodGet, true
	op.Description += " " + about
	op.Forms = of.exampleFormats()
	api.Raw(g, op, func(ctx context.Context, c *api.Call, in *I) (*answer, error) {
		turn, err := of.Turns.Begin(ctx, c.AccountID)
		if err != nil {
			return nil, c.Fail(ctx, err)
		}
		x := &export[I, T, R]{of: of, call: c, in: in, turn: turn, kept: time.Now(), needs: op.Needs, csv: any(in).(interface{ exportFormat() string }).exportFormat() == "csv"}
		first, err := x.readPage(ctx, "")
		if err != nil {
			x.endTurn(ctx)
			return nil, c.Fail(ctx, err)
		}
		return &answer{ContentType: x.mediaType(), Body: func(hc huma.Context) {
			r, w := humago.Unwrap(hc)
			defer x.endTurn(r.Context())
			if err := x.writePages(r, w, first); err != nil {
				telemetry.SetError(r.Context(), "", err)
				panic(http.ErrAbortHandler) // the client must not mistake a part for the whole
			}
		}}, nil
	})
}

const (
	jsonLines = "application/x-ndjson" // not application/jsonl, which some programs mistake for JSON
	csvType   = "text/csv"
)

// exampleFormats returns the example in both formats.
func (l List[I, T, R]) exampleFormats() map[string]any {
	return map[string]any{jsonLines: string(wire.Encode(l.Example)) + "\n",
		csvType: string(l.appendCells(l.headerLine(), l.Example))}
}

// headerLine returns the header line.
func (l List[I, T, R]) headerLine() []byte {
	names := make([]string, len(l.Columns))
	for i, column := range l.Columns {
		names[i] = column.Name
	}
	return appendRow(nil, names)
}

func (l List[I, T, R]) appendCells(out []byte, record R) []byte {
	cells := make([]string, len(l.Columns))
	for i, column := range l.Columns {
		cells[i] = column.Text(record)
	}
	return appendRow(out, cells)
}
