package inbound

import (
	"bytes"
	"context"
	"errors"
	"io"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/postrider/postrider/runtime/fault"
	"github.com/postrider/postrider/runtime/mail/smtpserver"
)

// smallMessage is not counted: connections bound how many there are.
const smallMessage = 64 << 10

// weight is what a message of so many octets takes: itself, what is made of it for
// the database or the caller, and what the driver makes of that.
func weight(size int64) int64 { return 3 * size }

const (
	receivePatience = time.Minute     // of a sender, who has sent the first 64 KB by then
	readPatience    = 5 * time.Second // of a caller
)

var replyNoMemory = smtpserver.Refuse(452, "4.3.1", "Too many large messages at once, try again later")

// reserve waits for memory. release may be called once.
func reserve(ctx context.Context, memory *semaphore.Weighted, size int64, patience time.Duration) (release func(), err error) {
	if size <= smallMessage {
		return func() {}, nil
	}
	waiting, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := memory.Acquire(waiting, weight(size)); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, errNoMemory
	}
	return func() { memory.Release(weight(size)) }, nil
}

var errNoMemory = errors.New("too many large messages at once")

// busy is errNoMemory for callers of the API.
func busy() error {
	return &fault.Error{Kind: fault.Away, Code: fault.CodeUnavailable, RetryAfter: readPatience,
		Message: "Too many large messages are being read at once; try again"}
}

// take reads a whole message. Its memory is reserved once, by the size that the sender
// has declared and some more, or for the largest, so that no two messages wait for
// each other halfway.
func (s *Service) take(ctx context.Context, body io.Reader, declared int64) (raw []byte, release func(), err error) {
	var buffer bytes.Buffer
	if declared > 0 {
		buffer.Grow(int(min(declared, smallMessage)) + 1)
	}
	switch _, err := io.CopyN(&buffer, body, smallMessage+1); {
	case errors.Is(err, io.EOF):
		return buffer.Bytes(), func() {}, nil
	case err != nil:
		return nil, nil, err
	}
	size := int64(MaxMessage)
	if declared > 0 { // RFC 1870 section 6.1: an estimate
		size = min(size, max(declared, smallMessage)+declared/8+smallMessage)
	}
	held := size // for which memory is reserved
	if _, err := reserve(ctx, s.receiving, size, receivePatience); err != nil {
		return nil, nil, refused(err)
	}
	release = func() { s.receiving.Release(weight(held)) }
	err = s.takeRest(&buffer, body, size, &held)
	if err != nil {
		release()
		return nil, nil, err
	}
	return buffer.Bytes(), release, nil
}

// takeRest reads on into memory for a message of the given size. More than that may go
// on if nobody has to wait for it.
func (s *Service) takeRest(buffer *bytes.Buffer, body io.Reader, size int64, held *int64) error {
	room := size - int64(buffer.Len()) + 1
	buffer.Grow(int(room) + bytes.MinRead) // or the last read would double it
	if _, err := io.CopyN(buffer, body, room); err != nil {
		if errors.Is(err, io.EOF) {
			return nil
		}
		return err
	}
	if size == MaxMessage || !s.receiving.TryAcquire(weight(MaxMessage-size)) {
		return replyNoMemory
	}
	*held = MaxMessage
	_, err := io.Copy(buffer, body)
	return err
}

// refused makes a lack of memory an answer.
func refused(err error) error {
	if errors.Is(err, errNoMemory) {
		return replyNoMemory
	}
	return err
}
