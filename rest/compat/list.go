package compat

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"strconv"

	"github.com/postrider/postrider/runtime/storage/page"
)

// mostPages is the maximum number of pages of our own API that one call reads.
const mostPages = 10

// ListRequest requests a page of a list of our own API, before or after an item, as other providers page their lists.
type ListRequest struct {
	Path   string // below /api
	Member string // field of the response
	Name   string // name in page.List; empty if its cursors do not consist of IDs
	Query  url.Values

	Limit         int    // 1 to 100
	After, Before string // ids: only older, or only newer items
}

// Items returns a page of a list, newest first, and reports whether there are more. keep selects the items that
// belong to the list; nil: all do.
func Items[T any](c *Call, l ListRequest, idOf func(T) string, keep func(T) bool) ([]T, bool, error) {
	w := walk[T]{ListRequest: l, idOf: idOf, keep: keep, skipping: l.After != ""}
	if w.skipping && l.Name != "" {
		w.skipping = false
		w.cursor = c.h.Cursors.Encode(page.List{Name: l.Name, AccountID: c.caller.AccountID}, l.After)
	}
	for range mostPages {
		if done, err := w.readPage(c); done || err != nil {
			return w.found, w.more, err
		}
	}
	switch {
	case l.Before != "":
		return nil, false, Invalid("before", "must be one of the newest %d items", mostPages*page.MaxLimit)
	case w.skipping:
		return nil, false, Invalid("after", "must be one of the newest %d items", mostPages*page.MaxLimit)
	}
	return w.found, true, nil
}

// walk reads pages until the requested items are found.
type walk[T any] struct {
	ListRequest

	idOf     func(T) string
	keep     func(T) bool
	cursor   string
	skipping bool // the items up to After
	found    []T
	more     bool
}

// readPage reads the next page, and reports whether it is the last one needed.
func (w *walk[T]) readPage(c *Call) (done bool, err error) {
	query := url.Values{"limit": {strconv.Itoa(w.pageSize())}}
	maps.Copy(query, w.Query)
	if w.cursor != "" {
		query.Set("cursor", w.cursor)
	}
	var answer map[string]json.RawMessage
	if err := c.Do(Request{Method: http.MethodGet, Path: w.Path, Query: query}, &answer); err != nil {
		return false, err
	}
	var items []T
	var goesOn bool
	var next *string
	for member, into := range map[string]any{w.Member: &items, "has_more": &goesOn, "next_cursor": &next} {
		if err := json.Unmarshal(answer[member], into); err != nil {
			return false, err
		}
	}
	for i, item := range items {
		if w.Before != "" && w.idOf(item) == w.Before {
			// The items next to it are the last ones.
			w.more = len(w.found) > w.Limit
			w.found = w.found[max(0, len(w.found)-w.Limit):]
			return true, nil
		}
		if w.take(item) {
			w.more = goesOn || i+1 < len(items)
			return true, nil
		}
	}
	if goesOn && next != nil {
		w.cursor = *next
		return false, nil
	}
	if w.Before != "" || w.skipping {
		return false, NotFound("item: " + w.Before + w.After)
	}
	return true, nil
}

// pageSize returns the maximum page size if items are skipped.
func (w *walk[T]) pageSize() int {
	if w.Before != "" || w.skipping || w.keep != nil {
		return page.MaxLimit
	}
	return w.Limit
}

// take adds an item, and reports whether enough items are collected.
func (w *walk[T]) take(item T) (done bool) {
	switch {
	case w.skipping:
		w.skipping = w.idOf(item) != w.After
		return false
	case w.keep != nil && !w.keep(item):
		return false
	}
	w.found = append(w.found, item)
	return w.Before == "" && len(w.found) == w.Limit
}
