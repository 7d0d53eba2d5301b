package intake

import (
	"errors"
	"io"
	"os"
	"time"
)

// requestBody is the body of a request under LimitHandler, for handlers that read it themselves.
type requestBody struct {
	io.ReadCloser

	response *response
	meter    Meter
	leave    func() // releases the place; nil if it has none
	near     hold   // of the memory for bytes that were read
	spare    int64  // bytes counted in advance and not read yet
	streamed bool   // the handler keeps nothing of what it has read
	ended    bool
	err      error
}

// StreamBody declares that the handler of a request keeps nothing of its body in memory. Only one step of it is then
// counted.
func StreamBody(body io.Reader) {
	if b, is := body.(*requestBody); is {
		b.streamed = true
	}
}

const (
	bodyStep = 16 << 10
	restTime = 100 * time.Millisecond
)

// Read implements io.Reader. The errors are ErrSlow, ErrFull, ErrCut and those of the connection.
func (b *requestBody) Read(p []byte) (int, error) {
	if b.err != nil {
		return 0, b.err
	}
	if b.err = b.reserveRead(); b.err != nil {
		return 0, b.err
	}
	p = p[:min(int64(len(p)), b.spare)]
	deadline := readDeadline(b.response.ResponseWriter)
	if b.err = deadline(time.Now().Add(b.meter.TimeLeft())); b.err != nil {
		return 0, b.err
	}
	began := time.Now()
	n, err := b.ReadCloser.Read(p)
	b.meter.Count(n, time.Since(began))
	b.spare -= int64(n)
	if err != nil {
		b.finishRead(err)
	}
	return n, b.err
}

// reserveRead reserves a place for the body, and memory for the next read.
func (b *requestBody) reserveRead() error {
	x := b.response
	if b.leave == nil {
		leave, err := x.budget.AcquireBody(x.request.Context(), x.owner, min(bodyPatience, x.budget.patience))
		if err != nil {
			return err
		}
		b.leave = leave
		x.budget.arriving.addHold(&b.near, x.owner, smallContent)
	}
	if b.spare > 0 {
		return nil
	}
	if b.streamed {
		b.spare = bodyStep
		return nil
	}
	if err := b.near.takeUnits(x.request.Context(), bodyStep, bodyPatience); err != nil {
		return err
	}
	b.spare = bodyStep
	return nil
}

func (b *requestBody) finishRead(err error) {
	b.ended, b.err = true, err
	if errors.Is(err, os.ErrDeadlineExceeded) {
		b.response.budget.slow.Add(1)
		b.ended, b.err = false, ErrSlow
	}
	readDeadline(b.response.ResponseWriter)(time.Time{}) //nolint:errcheck // the next use of a closed connection fails
	b.leave()
}

// abandonRest discards the rest of a body that the handler has not read. net/http would read up to 256 KB of it
// before it sends the response, and wait for them forever. If the rest has arrived, abandonRest reads it;
// otherwise the connection ends with the response, because later bytes must not be read as another request.
func (b *requestBody) abandonRest() {
	x := b.response
	if b.ended || x.request.ProtoMajor >= 2 {
		return
	}
	b.ended = true
	deadline := readDeadline(x.ResponseWriter)
	if x.request.ContentLength <= smallContent && deadline(time.Now().Add(restTime)) == nil {
		if _, err := io.CopyN(io.Discard, b.ReadCloser, smallContent+1); errors.Is(err, io.EOF) {
			deadline(time.Time{}) //nolint:errcheck // the next use of a closed connection fails
			return
		}
	}
	x.Header().Set("Connection", "close")
	deadline(time.Now().Add(x.budget.floor.Period)) //nolint:errcheck // as above
}

func (b *requestBody) release() {
	if b.leave != nil {
		b.leave()
	}
	b.near.leave()
}
