package resend

import (
	"encoding/json"
	"net/http"
	"time"

	"github.com/postrider/postrider/rest/compat"
)

// The values of x-batch-validation.
const (
	validationHeader = "X-Batch-Validation"
	strict           = "strict"
	permissive       = "permissive"
)

type batchItem struct {
	ID    *string `json:"id"`
	Index int     `json:"index"`
	Error *struct {
		Message string         `json:"message"`
		Details map[string]any `json:"details"`
	} `json:"error"`
}

type batchSent struct {
	ID string `json:"id"`
}

type batchError struct {
	Index   int    `json:"index"`
	Message string `json:"message"`
}

// sendBatch sends up to 100 emails: all or none, or each of them independently in permissive mode.
func sendBatch(c *compat.Call) (*compat.Response, error) {
	mode := c.Header(validationHeader)
	switch mode {
	case "":
		mode = strict
	case strict, permissive:
	default:
		return nil, compat.Invalid(validationHeader, "must be one of strict, permissive")
	}
	var in []emailInput
	if err := c.Decode(&in); err != nil {
		return nil, err
	}
	ask := compat.Request{Method: http.MethodPost, Path: "/emails/batch", Key: c.Header("Idempotency-Key")}
	emails, now, depends := []email{}, time.Now(), false
	for _, item := range in {
		out, relative, err := item.translate(now)
		if err != nil {
			return nil, err
		}
		emails, depends = append(emails, out), depends || relative
	}
	if depends && ask.Key != "" {
		var err error
		if ask.Compared, err = json.Marshal(map[string]any{"emails": in, "mode": mode}); err != nil {
			return nil, err
		}
	}
	body := map[string]any{"emails": emails}
	if mode == strict {
		body["atomic"] = true
	}
	ask.Body = body
	var done struct {
		Data []batchItem `json:"data"`
	}
	if err := c.Do(ask, &done); err != nil {
		return nil, err
	}
	return answerBatch(mode, done.Data)
}

func answerBatch(mode string, items []batchItem) (*compat.Response, error) {
	sent, wrong := []batchSent{}, []batchError{}
	for _, item := range items {
		switch {
		case item.ID != nil:
			sent = append(sent, batchSent{*item.ID})
		case item.Error != nil:
			wrong = append(wrong, batchError{item.Index, compat.Describe(item.Error.Message, item.Error.Details)})
		}
	}
	if mode == permissive {
		return compat.OK(struct {
			Data   []batchSent  `json:"data"`
			Errors []batchError `json:"errors"`
		}{sent, wrong})
	}
	return compat.OK(struct {
		Data []batchSent `json:"data"`
	}{sent})
}
