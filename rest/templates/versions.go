package templates

import (
	"context"
	"strconv"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/rest/api/body"
	"github.com/postrider/postrider/rest/api/wire"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/page"
)

// versionsQuery is a page of a template's versions.
type versionsQuery struct {
	api.Page
	api.Item
}

type versionInput struct {
	api.Item

	Version string `path:"version" doc:"Number of the version." example:"3"`
}

func (e *edge) listVersions(ctx context.Context, c *api.Call,
	in *versionsQuery) (page.Page[named[*ent.TemplateVersion]], error) {
	found, err := e.templates.Versions(ctx, c.AccountID, in.ID, in.Request())
	if err != nil {
		return page.Page[named[*ent.TemplateVersion]]{}, err
	}
	rows, err := nameAuthors(ctx, e, c, found.Items, func(v *ent.TemplateVersion) string { return v.Author })
	return page.WithItems(found, rows), err
}

// named is a row with the display name of its author; nil if it is unknown.
type named[T any] struct {
	row    T
	author *string
}

// nameAuthors finds the display names of the authors of rows.
func nameAuthors[T any](ctx context.Context, e *edge, c *api.Call, rows []T,
	author func(T) string) ([]named[T], error) {
	ids := make([]string, len(rows))
	for i, row := range rows {
		ids[i] = author(row)
	}
	names, err := e.names.NamesOf(ctx, c.AccountID, ids...)
	out := make([]named[T], len(rows))
	for i, row := range rows {
		out[i] = named[T]{row, wire.OrNull(names[ids[i]])}
	}
	return out, err
}

func (e *edge) getVersion(ctx context.Context, c *api.Call, in *versionInput) (versionAnswer, error) {
	n, err := findNumbered(ctx, e, c, in.ID, "version", in.Version, e.templates.Version,
		func(v *ent.TemplateVersion) string { return v.Author })
	if err != nil {
		return versionAnswer{}, err
	}
	return versionAnswer{versionRecord{VersionSummary: newVersionSummary(n), HTML: n.row.HTML, Text: n.row.Text,
		Translations: translationsOf(n.row.Translations)}}, nil
}

// findNumbered finds a version or an edit of a template by the number in the path.
func findNumbered[T any](ctx context.Context, e *edge, c *api.Call, templateID, noun, text string,
	find func(ctx context.Context, accountID, templateID string, number int) (T, error),
	author func(T) string) (out named[T], err error) {
	if _, err := e.templates.Get(ctx, c.AccountID, templateID); err != nil {
		return out, err // report an unknown template before an unknown number
	}
	number, err := pathNumber(noun, text)
	if err != nil {
		return out, err
	}
	found, err := find(ctx, c.AccountID, templateID, number)
	if err != nil {
		return out, err
	}
	rows, err := nameAuthors(ctx, e, c, []T{found}, author)
	if err != nil {
		return out, err
	}
	return rows[0], nil
}

// pathNumber reads the number of a version or an edit in a path.
func pathNumber(noun, text string) (int, error) {
	number, err := strconv.Atoi(text)
	if err != nil || number < 1 || number > 1<<30 || strconv.Itoa(number) != text {
		return 0, fault.NoSuch(noun, body.PrintableName(text))
	}
	return number, nil
}

type versionRecord struct {
	VersionSummary

	HTML *string `json:"html" doc:"The HTML as it is sent, with its CSS inlined."`
	Text *string `json:"text" doc:"The text as it is sent; null if the template has none, and each email then gets a text part generated from its HTML."`

	Translations []templateTranslation `json:"translations" nullable:"false" doc:"The content in other languages as it is sent."`
}

// VersionSummary is a version in a list. It is exported because it is embedded.
type VersionSummary struct {
	TemplateID         string             `json:"template_id" doc:"The ID of the template."`
	Version            int                `json:"version" doc:"The number of the version, starting at 1."`
	Subject            *string            `json:"subject" doc:"The subject. null if none is set."`
	From               *string            `json:"from" doc:"The sender. null if none is set."`
	ReplyTo            []string           `json:"reply_to" nullable:"false" doc:"The addresses that replies are sent to."`
	Variables          []templateVariable `json:"variables" nullable:"false" doc:"The variables of the version."`
	UnsubscribeEnabled bool               `json:"unsubscribe_enabled" doc:"Whether Postrider manages unsubscribes."`
	Category           *string            `json:"category" doc:"The kind of mail. null if none is set."`
	Components         []versionComponent `json:"components" nullable:"false" doc:"The layout and the partials that the version contains. Empty if there are none."`
	PublishedAt        wire.Time          `json:"published_at" doc:"When the version was published."`
	PublishedBy        *string            `json:"published_by" doc:"Email address of the member, or name of the API key, that published it. null if unknown."`
}

type versionComponent struct {
	Kind       string `json:"kind" enum:"layout,partial" doc:"The kind of the component."`
	TemplateID string `json:"template_id" doc:"The ID of the layout or partial." example:"tpl_01kf0m4w7he6x8q2v5b3n9c1tb"`
	Version    int    `json:"version" doc:"Number of its version."`
}

func newVersionSummary(n named[*ent.TemplateVersion]) VersionSummary {
	v := n.row
	return VersionSummary{TemplateID: v.TemplateID, Version: v.Number, Subject: wire.OrNull(v.Subject),
		From: wire.OrNull(v.From), ReplyTo: wire.List(v.ReplyTo),
		Variables: variablesOf(v.Variables), UnsubscribeEnabled: v.UnsubscribeEnabled, Category: v.Category, Components: versionComponentsOf(v.Components),
		PublishedAt: wire.Time(v.CreatedAt), PublishedBy: n.author}
}

func versionComponentsOf(list []shape.Component) []versionComponent {
	out := make([]versionComponent, 0, len(list))
	for _, c := range list {
		out = append(out, versionComponent(c))
	}
	return out
}
