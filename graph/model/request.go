package model

import (
	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/modules/apilog"
)

// APIRequest is a request to the REST API, on a page of them.
type APIRequest struct {
	apilog.LoggedRequest

	Page *APIRequestPage
}

// APIRequestPage returns the objects that the requests of a page refer to, by ID, each kind loaded once.
type APIRequestPage struct {
	Keys   func() (map[string]*ent.APIKey, error)
	Emails func() (map[string]*Email, error)
}
