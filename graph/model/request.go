package model

import (
	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/apilog"
)

// APIRequest is a request to the REST API, on a page of them.
type APIRequest struct {
	apilog.Request

	Page *APIRequestPage
}

// APIRequestPage gives what the requests of a page point at, by its id, each kind read once.
type APIRequestPage struct {
	Keys   func() (map[string]*ent.APIKey, error)
	Emails func() (map[string]*Email, error)
}
