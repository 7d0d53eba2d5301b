package templates

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"image"
	_ "image/gif"  // formats of images
	_ "image/jpeg" // that all mail programs show
	_ "image/png"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/postrider/postrider/ent"
	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/base/id"
	"github.com/postrider/postrider/runtime/mail/address"
	"github.com/postrider/postrider/runtime/storage/db"
)

// The limits of images.
const (
	MaxImage     = 1 << 20 // bytes
	MaxImageSide = 4096    // pixels
	MaxImages    = 200     // of an account
)

// Image is an image that templates can show.
type Image struct {
	ID          string
	Name        string // of the file
	ContentType string
	Size        int // bytes
	Width       int // pixels
	Height      int
	CreatedAt   time.Time
}

// NewImage is the input of AddImage.
type NewImage struct {
	Name    string
	Content []byte
	Keep    func(ctx context.Context, tx db.Execer, made Image) error // like StoreTemplateResponse
}

// Validate reports every invalid field.
func (in NewImage) Validate() fault.Fields {
	_, wrong := in.parse()
	return wrong
}

// imageTypes maps the formats to their media types. Other formats, such as SVG and WebP, are missing in common mail
// programs.
var imageTypes = map[string]string{"png": "image/png", "jpeg": "image/jpeg", "gif": "image/gif"}

// parse reads the header of an image only. The content is never decoded, because a small file can expand to
// gigabytes, and browsers decode it in a sandbox.
func (in NewImage) parse() (Image, fault.Fields) {
	wrong := fault.Fields{}
	made := Image{Name: strings.TrimSpace(in.Name), Size: len(in.Content)}
	if utf8.RuneCountInString(made.Name) > MaxName {
		wrong.Add("name", "is longer than %d characters", MaxName)
	} else if err := address.ValidateSubject(made.Name); err != nil {
		wrong.Add("name", "%s", err)
	}
	if len(in.Content) == 0 {
		wrong.Add("content", "is required")
		return made, wrong
	}
	if len(in.Content) > MaxImage {
		wrong.Add("content", "has %d bytes; it cannot have more than %d", len(in.Content), MaxImage)
		return made, wrong
	}
	size, format, err := image.DecodeConfig(bytes.NewReader(in.Content))
	made.ContentType, made.Width, made.Height = imageTypes[format], size.Width, size.Height
	switch {
	case err != nil, made.ContentType == "", made.Width < 1, made.Height < 1:
		wrong.Add("content", "must be a PNG, JPEG or GIF image")
	case max(made.Width, made.Height) > MaxImageSide:
		wrong.Add("content", "has %d x %d pixels; it cannot have more than %d x %d", made.Width, made.Height,
			MaxImageSide, MaxImageSide)
	}
	return made, wrong
}

const (
	lockAccountImagesSQL = `SELECT pg_advisory_xact_lock(hashtextextended('template_images ' || $1::text, 0))`

	countImagesSQL = `SELECT count(*) FROM template_images WHERE account_id = $1`

	addImageSQL = `
INSERT INTO template_images (id, account_id, name, content_type, size, width, height, digest, content, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, now())`

	imageColumns = `id, name, content_type, size, width, height, created_at`

	imageByDigestSQL = `SELECT ` + imageColumns + ` FROM template_images WHERE account_id = $1 AND digest = $2`
	listImagesSQL    = `SELECT ` + imageColumns + ` FROM template_images WHERE account_id = $1 ORDER BY id DESC LIMIT $2`
)

func scanImage(i *Image) []any {
	return []any{&i.ID, &i.Name, &i.ContentType, &i.Size, &i.Width, &i.Height, &i.CreatedAt}
}

// AddImage stores an image. If the account has an image with the same content, it returns that one.
func (s *Service) AddImage(ctx context.Context, accountID string, in NewImage) (made Image, err error) {
	parsed, wrong := in.parse()
	if err := wrong.Err(); err != nil {
		return Image{}, err
	}
	digest := sha256.Sum256(in.Content)
	err = s.db.InTx(ctx, func(tx *ent.Tx) error {
		// One upload of an account at a time, so that they cannot exceed the limit together.
		if _, err := db.Exec(ctx, tx, lockAccountImagesSQL, accountID); err != nil {
			return err
		}
		same, err := db.All(ctx, tx, scanImage, imageByDigestSQL, accountID, digest[:])
		if err != nil {
			return err
		}
		if len(same) == 0 {
			if same, err = storeImage(ctx, tx, accountID, parsed, digest[:], in.Content); err != nil {
				return err
			}
		}
		if made = same[0]; in.Keep == nil {
			return nil
		}
		return in.Keep(ctx, tx, made)
	})
	return made, fault.Wrap("add image", err)
}

func storeImage(ctx context.Context, tx *ent.Tx, accountID string, i Image, digest,
	content []byte) ([]Image, error) {
	count, err := db.One(ctx, tx, db.Value[int], countImagesSQL, accountID)
	if err != nil {
		return nil, err
	}
	if count >= MaxImages {
		return nil, fault.Conflictf(fault.CodeConflict, "The account has %d images, which is the limit; delete one first",
			MaxImages)
	}
	if _, err := db.Exec(ctx, tx, addImageSQL, id.New(id.Image), accountID, i.Name, i.ContentType, i.Size, i.Width,
		i.Height, digest, content); err != nil {
		return nil, err
	}
	return db.All(ctx, tx, scanImage, imageByDigestSQL, accountID, digest)
}

// Images lists the images of an account, newest first.
func (s *Service) Images(ctx context.Context, accountID string) ([]Image, error) {
	accountID = id.HomeAccount(accountID)
	found, err := db.All(ctx, s.db.SQL, scanImage, listImagesSQL, accountID, MaxImages)
	return found, fault.Wrap("list images", err)
}

const deleteImageSQL = `DELETE FROM template_images WHERE account_id = $1 AND id = $2`

// DeleteImage deletes an image. Emails and templates that show it lose it within ImageTTL.
func (s *Service) DeleteImage(ctx context.Context, accountID, imageID string) error {
	n, err := db.Exec(ctx, s.db.SQL, deleteImageSQL, accountID, imageID)
	if err != nil {
		return fmt.Errorf("delete image: %w", err)
	}
	if n == 0 {
		return fault.NoSuch("image", imageID)
	}
	s.images.Invalidate(imageID)
	return nil
}

// ImageFile is the content of an image.
type ImageFile struct {
	ContentType string
	Content     []byte // read-only
}

const (
	// ImageTTL is how long a process serves an image that another process has deleted.
	ImageTTL = time.Minute
	// imageCache is the memory for images, which many recipients load at the same time.
	imageCache = 16 << 20

	openImageSQL = `SELECT content_type, content FROM template_images WHERE id = $1`
)

// OpenImage returns the content of an image. It requires no account, because recipients load it by its URL.
func (s *Service) OpenImage(ctx context.Context, imageID string) (ImageFile, error) {
	if !id.Is(id.Image, imageID) {
		return ImageFile{}, fault.NoSuch("image", "with this URL")
	}
	if found, ok := s.images.GetIfPresent(imageID); ok {
		return found, nil
	}
	if err := s.opening.Acquire(ctx); err != nil {
		return ImageFile{}, err
	}
	defer s.opening.Release()
	return s.images.Get(ctx, imageID, func(ctx context.Context, imageID string) (ImageFile, error) {
		found, err := db.One(ctx, s.db.SQL, func(f *ImageFile) []any { return []any{&f.ContentType, &f.Content} },
			openImageSQL, imageID)
		if errors.Is(err, sql.ErrNoRows) {
			return ImageFile{}, fault.NoSuch("image", imageID)
		}
		return found, fault.Wrap("open image", err)
	})
}
