package graph

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/ent/schema/shape"
	"github.com/postrider/postrider/graph/connection"
	"github.com/postrider/postrider/graph/model"
	"github.com/postrider/postrider/modules/templates"
	"github.com/postrider/postrider/runtime/storage/page"
)

// Templates reads templates, each by its ID or alias.
type Templates interface {
	List(ctx context.Context, accountID string, q templates.ListQuery) (page.Page[templates.Template], error)
	Count(ctx context.Context, accountID string, q templates.ListQuery, most int) (int, error)
	Get(ctx context.Context, accountID, idOrAlias string) (templates.Template, error)
	GetMany(ctx context.Context, accountID string, templateIDs ...string) ([]templates.Template, error)
	// Bodies returns html and text, which List omits; other fields are not set.
	Bodies(ctx context.Context, accountID string, templateIDs ...string) (map[string]*ent.Template, error)
	Translations(ctx context.Context, accountID string, templateIDs ...string) (map[string]*ent.Template, error)
	Versions(ctx context.Context, accountID, idOrAlias string, r page.Request) (page.Page[*ent.TemplateVersion], error)
	CountVersions(ctx context.Context, accountID, templateID string, most int) (int, error)
}

var _ Templates = (*templates.Service)(nil)

// templatePage connects templates that were loaded together with their bodies.
func (r *Resolver) templatePage(ctx context.Context, accountID string,
	rows []templates.Template) ([]*model.Template, error) {
	ids := make([]string, len(rows))
	for i, row := range rows {
		ids[i] = row.ID
	}
	bodies := loadOnce(ctx, accountID, ids, r.parts.Templates.Bodies)
	translations := loadOnce(ctx, accountID, ids, r.parts.Templates.Translations)
	out := make([]*model.Template, len(rows))
	for i, row := range rows {
		variables, err := toVariables(row.Variables)
		if err != nil {
			return nil, err
		}
		out[i] = &model.Template{ID: row.ID, Kind: toTemplateKind(row.Kind), Components: toComponents(row.Used),
			HasNewerComponents: row.HasNewerComponents(), Alias: row.Alias, Name: row.Name, Status: model.TemplateStatusDraft,
			Version:     row.Version,
			PublishedAt: row.PublishedAt, HasUnpublishedChanges: row.HasUnpublishedChanges,
			Subject: nilIfEmpty(row.Subject), From: nilIfEmpty(row.From),
			ReplyTo: append([]string{}, row.ReplyTo...), Locales: toLocales(row.Locales()), Variables: variables,
			UnsubscribeEnabled: row.UnsubscribeEnabled, Category: row.Category,
			CreatedAt: row.CreatedAt, UpdatedAt: row.UpdatedAt, Bodies: bodies,
			TranslationsOf: translations}
		if row.Status() == templates.StatusPublished {
			out[i].Status = model.TemplateStatusPublished
		}
	}
	return out, nil
}

func toTemplateKind(kind string) model.TemplateKind { return model.TemplateKind(strings.ToUpper(kind)) }

func toComponents(list []templates.UsedComponent) []*model.TemplateComponent {
	out := make([]*model.TemplateComponent, len(list))
	for i, c := range list {
		out[i] = &model.TemplateComponent{Kind: toTemplateKind(c.Kind), TemplateID: c.TemplateID, Alias: c.Alias,
			Name: nilIfEmpty(c.Name), Version: c.Version, LatestVersion: c.LatestVersion}
	}
	return out
}

func toLocales(list []templates.Locale) []*model.TemplateLocale {
	out := make([]*model.TemplateLocale, len(list))
	for i, l := range list {
		out[i] = &model.TemplateLocale{Locale: l.Tag, Missing: append([]string{}, l.Missing...)}
	}
	return out
}

func toTranslations(list []shape.Translation) []*model.TemplateTranslation {
	out := make([]*model.TemplateTranslation, len(list))
	for i, t := range list {
		out[i] = &model.TemplateTranslation{Locale: t.Locale, Subject: nilIfEmpty(t.Subject), HTML: nilIfEmpty(t.HTML),
			Text: nilIfEmpty(t.Text)}
	}
	return out
}

func toVariables(list []shape.Variable) ([]*model.TemplateVariable, error) {
	out := make([]*model.TemplateVariable, len(list))
	for i, v := range list {
		out[i] = &model.TemplateVariable{Key: v.Key, Type: v.Type, Required: v.Required}
		for to, value := range map[*json.RawMessage]any{&out[i].Fallback: v.Fallback, &out[i].Example: v.Example} {
			if value == nil {
				continue
			}
			var err error
			if *to, err = json.Marshal(value); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

func toVersions(rows []*ent.TemplateVersion, names map[string]string) ([]*model.TemplateVersion, error) {
	out := make([]*model.TemplateVersion, len(rows))
	for i, v := range rows {
		variables, err := toVariables(v.Variables)
		if err != nil {
			return nil, err
		}
		out[i] = &model.TemplateVersion{Version: v.Number, Subject: nilIfEmpty(v.Subject), From: nilIfEmpty(v.From),
			ReplyTo:   append([]string{}, v.ReplyTo...),
			Variables: variables, UnsubscribeEnabled: v.UnsubscribeEnabled, Category: v.Category,
			Components: connection.ConvertList(v.Components, func(c shape.Component) *model.TemplateVersionComponent {
				return &model.TemplateVersionComponent{Kind: toTemplateKind(c.Kind), TemplateID: c.TemplateID,
					Version: c.Version}
			}),
			PublishedAt: v.CreatedAt, PublishedBy: nilIfEmpty(names[v.Author])}
	}
	return out, nil
}

func templateFilter(request page.Request, in *model.TemplateFilter) templates.ListQuery {
	if in == nil {
		return templates.ListQuery{Page: request}
	}
	return templates.ListQuery{Page: request, Alias: stringOrEmpty(in.Alias),
		Status: strings.ToLower(orEmpty(in.Status)), Kind: strings.ToLower(orEmpty(in.Kind)),
		HasNewerComponents: in.HasNewerComponents != nil && *in.HasNewerComponents,
		Name:               stringOrEmpty(in.Query)}
}
