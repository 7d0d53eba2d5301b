package model

import (
	"time"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/domain"
	"github.com/postrider/postrider/modules/deliverability"
	"github.com/postrider/postrider/modules/sending/records"
)

// Domain is a domain on the page that it was read with.
type Domain struct {
	ID             string
	Name           string
	Status         domain.Status
	Records        []*DNSRecord
	DKIM           *DKIM
	DKIMKeys       []*DKIMKey
	OpenTracking   bool
	ClickTracking  bool
	TLSMode        domain.TLSMode
	InboundEnabled bool

	BIMILogoURL, BIMICertificateURL *string
	MTASTS                          domain.MtaSts

	LastCheckedAt *time.Time
	VerifiedAt    *time.Time
	CreatedAt     time.Time
	UpdatedAt     time.Time
	Page          *DomainPage
}

// DomainPage returns the related data of the domains of one page, by domain ID. Each function calls its
// service once for all of them and each argument.
type DomainPage struct {
	Health func(first int) (map[string][]*ent.DomainCheck, error)
	Counts func(days int) (map[string]records.Counts, error)

	Deliverability func() (map[string]deliverability.Summary, error)
}
