package moves

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/secret"
	"github.com/postrider/postrider/runtime/ops/transfer"
	"github.com/postrider/postrider/runtime/storage/db"
)

// Target is the installation that an account moves to.
type Target interface {
	BaseURL() string
	// Import imports the file of a move, whose secrets are sealed with a one-time key. It returns the ID of the move.
	Import(ctx context.Context, file io.Reader, oneTime secret.Key) (moveID string, err error)
	// Status returns the move of an account. Error: NotFound.
	Status(ctx context.Context, accountID string) (MoveStatus, error)
	// Start starts the copy of an account. It can be repeated.
	Start(ctx context.Context, accountID, code string) error
}

const (
	undoWithin  = time.Minute
	startTries  = 5
	startPause  = 2 * time.Second
	askPatience = 30 * time.Second
)

// StartError is the error of a move that has finished at the source but not started at the target. Repeating Move
// starts it.
type StartError struct{ cause error }

func (e StartError) Error() string {
	return "the account has moved, but its copy has not started: " + e.cause.Error() + ". Repeat the command"
}

// Unwrap returns the cause.
func (e StartError) Unwrap() error { return e.cause }

// Move moves an account to a target: most of it while the account works, and the rest while it is frozen. After an
// error, the account works at the source as before, except after StartError, and if resuming it failed. If an earlier
// Move has finished at the source, Move only starts the copy.
func Move(ctx context.Context, d *db.DB, accountID string, to Target, o Options) (err error) {
	before, err := statusOf(ctx, d, accountID)
	if err != nil {
		return err
	}
	switch before.State {
	case transfer.Moved:
		return finish(ctx, d, accountID, to, o)
	case transfer.Leaving, transfer.Waiting: // an earlier move was interrupted, or this is a copy
		if err := Cancel(ctx, d, accountID); err != nil {
			return err
		}
	}
	o.Secret = secret.NewKey()
	if o.base, err = sendBase(ctx, d, accountID, to, o); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.base.Close()) }()
	frozen := time.Now()
	if err := send(ctx, d, accountID, to, o); err != nil {
		return err
	}
	if err := finish(ctx, d, accountID, to, o); err != nil {
		return err
	}
	o.Progress(fmt.Sprintf("the account was frozen for %.1f seconds", time.Since(frozen).Seconds()))
	return nil
}

// sendBase copies the base to the target. The account works.
func sendBase(ctx context.Context, d *db.DB, accountID string, to Target, o Options) (*transfer.Base, error) {
	upload := &upload{ctx: ctx, to: to, oneTime: o.Secret}
	base, err := transfer.ExportBase(ctx, d, accountID, upload, o.Options)
	imported := upload.end(err)
	if err != nil {
		return nil, err
	}
	if imported != nil && !wasImported(ctx, to, accountID, base.ID) {
		err = fmt.Errorf("import at %s: %w", to.BaseURL(), imported)
	}
	if err == nil {
		o.Progress("copied while the account works; finding what has changed")
		err = base.Refresh(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, base.Close())
	}
	return base, nil
}

// finish finishes a move whose file the target has imported.
func finish(ctx context.Context, d *db.DB, accountID string, to Target, o Options) error {
	code, err := finishOrCancel(ctx, d, accountID, to.BaseURL(), o.Forward)
	if err != nil {
		return err
	}
	o.Progress("finished at the source")
	return startCopy(ctx, to, accountID, code, o)
}

// send exports the account to the target. After an error, the account is resumed.
func send(ctx context.Context, d *db.DB, accountID string, to Target, o Options) error {
	upload := &upload{ctx: ctx, to: to, oneTime: o.Secret}
	result, err := ExportMove(ctx, d, accountID, upload, o)
	imported := upload.end(err)
	if err != nil { // ExportMove has resumed the account
		return err
	}
	if imported == nil {
		o.Progress("imported by the target")
		return nil
	}
	if wasImported(ctx, to, accountID, result.Manifest.Move) {
		o.Progress("imported by the target, whose response was lost")
		return nil
	}
	return undo(ctx, d, accountID, fmt.Errorf("import at %s: %w", to.BaseURL(), imported))
}

// wasImported asks the target whether it has imported the file of a move. If it does not respond, the answer is no:
// canceling is always safe, because the copy cannot start without its code.
func wasImported(ctx context.Context, to Target, accountID, moveID string) bool {
	ctx, cancel := context.WithTimeout(ctx, askPatience)
	defer cancel()
	at, err := to.Status(ctx, accountID)
	return err == nil && at.State != transfer.Settled && at.MoveID == moveID
}

// finishOrCancel finishes the move at the source. After an error, the account is resumed unless the move has finished.
func finishOrCancel(ctx context.Context, d *db.DB, accountID, baseURL string, forward bool) (code string, err error) {
	if code, err = Finish(ctx, d, accountID, baseURL, forward); err == nil {
		return code, nil
	}
	return "", undo(ctx, d, accountID, err)
}

// undo resumes an account at the source because of an error.
func undo(ctx context.Context, d *db.DB, accountID string, because error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoWithin)
	defer cancel()
	return errors.Join(because, Cancel(ctx, d, accountID))
}

func startCopy(ctx context.Context, to Target, accountID, code string, o Options) (err error) {
	for range startTries {
		err = to.Start(ctx, accountID, code)
		if err == nil {
			o.Progress("started at the target")
			return nil
		}
		if kind := fault.KindOf(err); kind == fault.Forbidden || kind == fault.Conflict || kind == fault.NotFound {
			break
		}
		select {
		case <-ctx.Done():
			return StartError{errors.Join(err, ctx.Err())}
		case <-time.After(startPause):
		}
	}
	return StartError{err}
}

// upload sends what is written to it to the target. The request begins with the first byte, once nothing is in progress
// any more.
type upload struct {
	ctx     context.Context
	to      Target
	oneTime secret.Key
	pipe    *io.PipeWriter
	result  chan error
	left    bool // the import has ended before the file, which Write has reported
}

// Write implements io.Writer. If the target has stopped reading, the error is that of the import.
func (u *upload) Write(p []byte) (int, error) {
	if u.pipe == nil {
		var file *io.PipeReader
		file, u.pipe = io.Pipe()
		u.result = make(chan error, 1)
		go func() {
			_, err := u.to.Import(u.ctx, file, u.oneTime)
			file.CloseWithError(io.ErrClosedPipe)
			u.result <- err
		}()
	}
	n, err := u.pipe.Write(p)
	if err != nil && !u.left {
		u.left = true
		err = fmt.Errorf("import at %s: %w", u.to.BaseURL(), cmp.Or(<-u.result, err))
	}
	return n, err
}

// end ends the file and returns the error of the import. If the export has failed with err, that is the cause, and end
// returns nil.
func (u *upload) end(err error) error {
	if u.pipe == nil || u.left {
		return nil
	}
	u.pipe.CloseWithError(err) // nil: the end of the file
	if imported := <-u.result; err == nil {
		return imported
	}
	return nil
}
