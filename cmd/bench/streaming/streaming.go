// Package streaming measures how soon an open event stream shows what was sent.
package streaming

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"github.com/postrider/postrider/cmd/bench/reading"
)

// Emails is how many are sent in one round, ten a second.
const Emails = 100

// Round sends emails while a stream is open, and returns for each the time from the answer until the stream
// showed it. send sends one and returns its id.
func Round(ctx context.Context, s reading.Server, send func() (string, error)) (took []time.Duration, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.APIURL+"/event-log/stream?types=email.sent", nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+s.APIKey)
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, answer.Body.Close()) }()
	shown := make(chan string, Emails)
	go follow(answer.Body, shown)
	if first := <-shown; first != "" {
		return nil, fmt.Errorf("the stream begins with %q", first)
	}
	answered := map[string]time.Time{}
	seen := map[string]time.Time{}
	next := time.After(0)
	for len(seen) < Emails {
		select {
		case <-next:
			emailID, err := send()
			if err != nil {
				return nil, err
			}
			answered[emailID] = time.Now()
			if next = time.After(time.Duration(rand.IntN(200)) * time.Millisecond); len(answered) == Emails {
				next = nil
			}
		case emailID, open := <-shown:
			if !open {
				return nil, fmt.Errorf("the stream has ended after %d of %d events", len(seen), Emails)
			}
			seen[emailID] = time.Now()
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	for emailID, at := range answered {
		took = append(took, seen[emailID].Sub(at))
	}
	return took, nil
}

// follow sends the emails of the events of a stream to shown, and before them an empty text for its beginning.
func follow(body io.Reader, shown chan<- string) {
	defer close(shown)
	lines := bufio.NewScanner(body)
	for began := false; lines.Scan(); {
		text, is := strings.CutPrefix(lines.Text(), "data: ")
		var found struct {
			Data struct {
				EmailID string `json:"email_id"`
			} `json:"data"`
		}
		switch {
		case !is && !began:
			shown <- ""
			began = true
		case is && json.Unmarshal([]byte(text), &found) == nil:
			shown <- found.Data.EmailID
		}
	}
}
