package relay

import (
	"bytes"
	"context"
	"errors"
	"io"
	"time"
)

const (
	// light is held without asking; most messages are smaller.
	light = 64 << 10
	// memoryWait is how long a message waits for others that are being taken.
	memoryWait = 30 * time.Second
)

// memoryOf is what a message takes while it is read, cleaned and stored.
func memoryOf(size int64) int64 { return 4 * size }

// readMessage reads a whole message. One that is not light takes its part of the memory
// before it is read further: the size that MAIL told, else the most there can be, so
// that nobody waits for memory while holding some. done is called after its use.
func (s *Service) readMessage(ctx context.Context, body io.Reader, declared int64) (raw []byte, done func(), err error) {
	var b bytes.Buffer
	if _, err := io.CopyN(&b, body, light); errors.Is(err, io.EOF) {
		return b.Bytes(), func() {}, nil
	} else if err != nil {
		return nil, nil, err
	}
	most := int64(MaxMessage)
	if declared > 0 { // clients count line ends in their own ways
		most = min(most, declared+declared/8+light)
	}
	waiting, cancel := context.WithTimeout(ctx, memoryWait)
	defer cancel()
	weight := memoryOf(most)
	if err := s.memory.Acquire(waiting, weight); err != nil {
		return nil, nil, replyMemory
	}
	done = func() { s.memory.Release(weight) }
	if _, err = io.Copy(&b, io.LimitReader(body, most-light)); err == nil {
		var more int64
		if more, err = io.Copy(io.Discard, body); err == nil && more > 0 {
			err = replyDeclared
		}
	}
	if err != nil {
		done()
		return nil, nil, err
	}
	return b.Bytes(), done, nil
}
