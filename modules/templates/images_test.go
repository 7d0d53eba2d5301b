package templates

import (
	"bytes"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/storage/db"
)

func encodeImage(t *testing.T, format string, width, height int, shade uint8) []byte {
	t.Helper()
	picture := image.NewPaletted(image.Rect(0, 0, width, height), color.Palette{color.Gray{shade}, color.White})
	var out bytes.Buffer
	var err error
	switch format {
	case "png":
		err = png.Encode(&out, picture)
	case "jpeg":
		err = jpeg.Encode(&out, picture, nil)
	case "gif":
		err = gif.Encode(&out, picture, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestImagesAreStoredOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ids := map[string]bool{}
	for format, want := range imageTypes {
		content := encodeImage(t, format, 3, 2, 0)
		made, err := w.AddImage(t.Context(), ada, NewImage{Name: " logo ", Content: content})
		if err != nil || made.ContentType != want || made.Width != 3 || made.Height != 2 || made.Size != len(content) ||
			made.Name != "logo" {
			t.Fatalf("%s: AddImage returned %+v, %v", format, made, err)
		}
		again, err := w.AddImage(t.Context(), ada, NewImage{Name: "other", Content: content})
		if err != nil || again != made {
			t.Errorf("%s: the same file returned %+v, %v, want %+v", format, again, err, made)
		}
		opened, err := w.OpenImage(t.Context(), made.ID)
		if err != nil || opened.ContentType != want || !bytes.Equal(opened.Content, content) {
			t.Errorf("%s: OpenImage returned %s, %d bytes, %v", format, opened.ContentType, len(opened.Content), err)
		}
		ids[made.ID] = true
	}
	list, err := w.Images(t.Context(), ada)
	if err != nil || len(list) != len(ids) || !ids[list[0].ID] || list[0].ID < list[1].ID {
		t.Errorf("Images returned %+v, %v, want all, newest first", list, err)
	}
}

func TestRefusesOtherFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, c := range map[string]struct {
		content []byte
		want    string
	}{
		"svg":       {[]byte(`<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`), "must be a PNG"},
		"html":      {[]byte("<!doctype html><script>alert(1)</script>"), "must be a PNG"},
		"truncated": {encodeImage(t, "png", 3, 3, 0)[:20], "must be a PNG"},
		"empty":     {nil, "is required"},
		"wide":      {encodeImage(t, "png", MaxImageSide+1, 1, 0), "pixels"},
		"large":     {append(encodeImage(t, "png", 1, 1, 0), make([]byte, MaxImage)...), "bytes"},
	} {
		_, err := w.AddImage(t.Context(), ada, NewImage{Name: name, Content: c.content})
		wantFields(t, err, "content")
		if got := fault.Classify(err).Fields["content"]; !strings.Contains(got, c.want) {
			t.Errorf("%s: the error is %q, want %q", name, got, c.want)
		}
	}
}

func TestImagesBelongToOneAccount(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	content := encodeImage(t, "png", 1, 1, 0)
	made, err := w.AddImage(t.Context(), ada, NewImage{Content: content})
	if err != nil {
		t.Fatal(err)
	}
	other, err := w.AddImage(t.Context(), eve, NewImage{Content: content})
	if err != nil || other.ID == made.ID {
		t.Errorf("the same file of another account returned %s, %v, want another image", other.ID, err)
	}
	if err := w.DeleteImage(t.Context(), eve, made.ID); fault.KindOf(err) != fault.NotFound {
		t.Errorf("deleting another account's image returned %v, want NotFound", err)
	}
	if _, err := w.OpenImage(t.Context(), made.ID); err != nil {
		t.Fatal(err)
	}
	if err := w.DeleteImage(t.Context(), ada, made.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := w.OpenImage(t.Context(), made.ID); fault.KindOf(err) != fault.NotFound {
		t.Errorf("opening a deleted image returned %v, want NotFound", err)
	}
	if list, err := w.Images(t.Context(), ada); err != nil || len(list) != 0 {
		t.Errorf("Images returned %+v, %v, want none", list, err)
	}
}

func TestImagesAreLimited(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if _, err := db.Exec(t.Context(), w.db.SQL, `
INSERT INTO template_images (id, account_id, name, content_type, size, width, height, digest, content)
SELECT 'img_' || n, $1, '', 'image/png', 1, 1, 1, convert_to(n::text, 'UTF8'), '' FROM generate_series(1, $2) n`, ada,
		MaxImages); err != nil {
		t.Fatal(err)
	}
	_, err := w.AddImage(t.Context(), ada, NewImage{Content: encodeImage(t, "png", 1, 1, 0)})
	if fault.KindOf(err) != fault.Conflict {
		t.Errorf("one image too many returned %v, want Conflict", err)
	}
}
