package templates

import (
	"context"
	"net/http"

	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/templates"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/rest/api/body"
	"github.com/postrider/postrider/rest/api/wire"
)

// translating is the part of templates that the operations on strings use.
type translating interface {
	ExportStrings(ctx context.Context, accountID, idOrAlias, locale, sourceLocale string) ([]byte, error)
	ImportStrings(ctx context.Context, accountID, idOrAlias, content, author string) (templates.ImportedStrings, error)
}

const xliffType = "application/xliff+xml"

type exportInput struct {
	api.Item

	Locale       string `query:"locale" maxLength:"100" doc:"The language to translate to, as a BCP 47 tag. Without it, the document names no target language, and the translation tool must add one." example:"de"`
	SourceLocale string `query:"source_locale" maxLength:"100" doc:"The language of the template. Defaults to the lang attribute of its HTML, or to en." example:"en"`
}

type importedAnswer struct {
	Template     templateRecord `json:"template" doc:"The template with the translation in its draft."`
	Locale       string         `json:"locale" doc:"The language of the translation." example:"de"`
	Untranslated []string       `json:"untranslated" nullable:"false" doc:"IDs of the units without a translation. They have the text of the template."`
}

const xliffExample = `<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">
<file original="tpl_01kf0m4w7he6x8q2v5b3n9c1ta" source-language="en" target-language="de" datatype="html">
<body>
<trans-unit id="subject"><source>Your receipt</source><target>Deine Quittung</target></trans-unit>
</body>
</file>
</xliff>
`

func (e *edge) addStrings(g *api.TagGroup) {
	api.Raw(g, api.Operation{
		Method: http.MethodGet, Path: "/templates/{id}/strings", ID: "exportTemplateStrings", Needs: rights.Read,
		Summary: "Export a template's strings",
		Description: "Returns the texts of the draft for a translation tool, as XLIFF 1.2, with the translation so far. A " +
			"unit is a paragraph, a cell, or an attribute such as `alt`. HTML tags within a text are codes, and Liquid is text.",
		Media: xliffType, Example: xliffExample, Problems: []int{http.StatusNotFound}, Of: OfTemplate,
	}, e.exportStrings)
	api.HandleBody(g, api.Operation{
		Method: http.MethodPost, Path: "/templates/{id}/strings", ID: "importTemplateStrings", Needs: rights.Write,
		Summary: "Import a template's strings",
		Description: "Replaces the draft's translation to the `target-language` of an XLIFF 1.2 document that was exported " +
			"from this draft. A unit without a translation has the text of the template. An error in a unit is in `details` as " +
			"`xliff.` with the ID of the unit. If the template has changed since the export, export it again.",
		Body: &api.Body{Limit: bodyLimit, About: "The document.",
			Examples: map[string]any{"german": map[string]any{"xliff": xliffExample}}},
		Example:  map[string]any{"template": templateExample(), "locale": "de", "untranslated": []any{}},
		Problems: []int{http.StatusNotFound, http.StatusConflict}, Of: OfTemplate,
	}, importBody, e.importStrings)
}

func importBody(content *string) body.Object {
	return body.Object{Name: "ImportTemplateStrings", Fields: []body.Field{
		{Name: "xliff", Type: body.Text(content), Need: body.Required, About: "An XLIFF 1.2 document of up to 4 MB."},
	}}
}

func (e *edge) exportStrings(ctx context.Context, c *api.Call, in *exportInput) (*api.Text, error) {
	if err := OfTemplate.Check(in.ID); err != nil {
		return nil, c.Fail(ctx, err)
	}
	content, err := e.templates.ExportStrings(ctx, c.AccountID, in.ID, in.Locale, in.SourceLocale)
	if err != nil {
		return nil, c.Fail(ctx, err)
	}
	return &api.Text{ContentType: xliffType, Body: content}, nil
}

func (e *edge) importStrings(ctx context.Context, c *api.Call, in *api.Item, content string) (importedAnswer, error) {
	return api.As(func(i templates.ImportedStrings) importedAnswer {
		return importedAnswer{newTemplateRecord(i.Template), i.Locale, wire.List(i.Untranslated)}
	})(e.templates.ImportStrings(ctx, c.AccountID, in.ID, content, c.Caller.ID()))
}
