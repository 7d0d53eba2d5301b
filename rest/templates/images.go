package templates

import (
	"context"
	"net/http"
	"strings"

	"github.com/postrider/postrider/modules/accounts/rights"
	"github.com/postrider/postrider/modules/templates"
	"github.com/postrider/postrider/rest/api"
	"github.com/postrider/postrider/rest/api/wire"
	"github.com/postrider/postrider/runtime/base/id"
)

// pictures is the part of templates that the operations on images use.
type pictures interface {
	AddImage(ctx context.Context, accountID string, in templates.NewImage) (templates.Image, error)
	Images(ctx context.Context, accountID string) ([]templates.Image, error)
	DeleteImage(ctx context.Context, accountID, imageID string) error
}

// ImagePrefix is the path prefix of the images' URLs.
const ImagePrefix = "/files/images/"

type imageRecord struct {
	ID          string    `json:"id" doc:"The ID of the image." example:"img_01kf0m4w7he6x8q2v5b3n9c1ta"`
	Name        string    `json:"name" doc:"The name of the file." example:"logo.png"`
	URL         string    `json:"url" doc:"The URL for the HTML of emails. Anyone who has it can load the image." example:"https://mail.example.com/files/images/img_01kf0m4w7he6x8q2v5b3n9c1ta.png"`
	ContentType string    `json:"content_type" enum:"image/png,image/jpeg,image/gif" doc:"The format, as its content has it."`
	Size        int       `json:"size" doc:"Size in bytes." example:"48213"`
	Width       int       `json:"width" doc:"Width in pixels." example:"600"`
	Height      int       `json:"height" doc:"Height in pixels." example:"200"`
	CreatedAt   wire.Time `json:"created_at" doc:"When the image was uploaded."`
}

type imageAnswer struct {
	Image imageRecord `json:"image" doc:"The image."`
}

type imagesAnswer struct {
	Images []imageRecord `json:"images" nullable:"false" doc:"The images of the account, newest first; at most 200."`
}

var imageNoun = api.Noun{Name: "image", About: "ID of the image.", Example: "img_01kf0m4w7he6x8q2v5b3n9c1ta",
	Is: func(word string) bool { return id.Is(id.Image, word) }}

func (e *edge) addImages(g *api.TagGroup) {
	api.OnceBody(g, api.Operation{
		Path: "/template-images", ID: "addTemplateImage", Needs: rights.Write,
		Summary: "Upload an image",
		Description: "Stores an image for templates and returns its URL. The image is public: every client that has the " +
			"URL can load it. Uploading the same file again returns the same image. An account can have 200 images.",
		Body: &api.Body{Limit: maxImageBody, About: "The image.",
			Examples: map[string]any{"pixel": map[string]any{"name": "pixel.png", "content": examplePixel}}},
		Example: map[string]any{"image": imageExample()}, Problems: []int{http.StatusConflict},
	}, imageBody, e.addImage)
	api.Handle(g, api.Operation{
		Method: http.MethodGet, Path: "/template-images", ID: "listTemplateImages", Needs: rights.Read,
		Summary: "List images", Description: "Lists the images of the account, newest first.",
		Example: map[string]any{"images": []any{imageExample()}},
	}, e.listImages)
	api.Delete(g, api.Operation{
		Path: "/template-images/{id}", ID: "deleteTemplateImage", Needs: rights.Write,
		Summary: "Delete an image", Description: "Deletes an image. Emails that show it, including sent ones, lose it " +
			"within a minute.",
		Of: imageNoun,
	}, e.templates.DeleteImage)
}

func (e *edge) addImage(ctx context.Context, c *api.Call, _ *api.None, in templates.NewImage,
	keep api.StoreResponse) (imageAnswer, error) {
	in.Keep = api.AdaptStore(keep, e.newImageAnswer)
	return api.As(e.newImageAnswer)(e.templates.AddImage(ctx, c.AccountID, in))
}

func (e *edge) listImages(ctx context.Context, c *api.Call, _ *api.None) (imagesAnswer, error) {
	found, err := e.templates.Images(ctx, c.AccountID)
	return imagesAnswer{wire.ListOf(found, e.newImage)}, err
}

func (e *edge) newImageAnswer(i templates.Image) imageAnswer { return imageAnswer{e.newImage(i)} }

func (e *edge) newImage(i templates.Image) imageRecord {
	return imageRecord{ID: i.ID, Name: i.Name, ContentType: i.ContentType, Size: i.Size, Width: i.Width, Height: i.Height,
		URL:       e.baseURL + ImagePrefix + i.ID + "." + strings.TrimPrefix(i.ContentType, "image/"),
		CreatedAt: wire.Time(i.CreatedAt)}
}

// examplePixel is one blue pixel.
const examplePixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGOQj98PAAHeAT6KpYphAAAAAElFTkSuQmCC"

func imageExample() map[string]any {
	return map[string]any{"id": "img_01kf0m4w7he6x8q2v5b3n9c1ta", "name": "logo.png",
		"url":          "https://mail.example.com/files/images/img_01kf0m4w7he6x8q2v5b3n9c1ta.png",
		"content_type": "image/png", "size": 48213, "width": 600, "height": 200, "created_at": "2026-01-15T09:30:00.000Z"}
}
