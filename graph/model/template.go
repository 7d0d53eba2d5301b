package model

import (
	"time"

	"github.com/postrider/postrider/ent"
)

// Template is a template on the page that it was read with.
type Template struct {
	ID                    string
	Kind                  TemplateKind
	Components            []*TemplateComponent
	HasNewerComponents    bool
	Alias                 *string
	Name                  string
	Status                TemplateStatus
	Version               *int
	PublishedAt           *time.Time
	HasUnpublishedChanges bool
	Subject               *string
	From                  *string
	ReplyTo               []string
	Locales               []*TemplateLocale
	Variables             []*TemplateVariable
	UnsubscribeEnabled    bool
	Category              *string
	CreatedAt             time.Time
	UpdatedAt             time.Time
	// Bodies returns html and text of all templates of the page, by ID, and loads them once.
	Bodies func() (map[string]*ent.Template, error)
	// TranslationsOf does the same for translations.
	TranslationsOf func() (map[string]*ent.Template, error)
}
