package compat

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"

	"github.com/postrider/postrider/runtime/base/fault"
)

const (
	mostParts = 500 // parts of a form
	mediaForm = "application/x-www-form-urlencoded"
	mediaPart = "multipart/form-data"
)

// Form is a body of form fields.
type Form struct {
	Values url.Values
	Files  []FormFile
}

// FormFile is a file in a form.
type FormFile struct {
	Field, Name, ContentType string
	Data                     []byte
}

// Form reads the body as a form, with or without files.
func (c *Call) Form() (*Form, error) {
	media, params, err := mime.ParseMediaType(c.Header("Content-Type"))
	if err != nil || media != mediaPart {
		media = mediaForm
	}
	if err := c.receive(media); err != nil {
		return nil, err
	}
	form := &Form{Values: url.Values{}}
	err = c.readContent(c.body, func(text []byte) (err error) {
		if media == mediaForm {
			form.Values, err = url.ParseQuery(string(text))
			return err
		}
		return form.readParts(multipart.NewReader(bytes.NewReader(text), params["boundary"]))
	})
	var refusal *RefusalError
	if err != nil && !errors.As(err, &refusal) && fault.KindOf(err) == fault.Internal {
		err = &RefusalError{Status: http.StatusBadRequest, Code: fault.CodeValidation, Message: "The form is malformed"}
	}
	return form, err
}

func (f *Form) readParts(from *multipart.Reader) error {
	for range mostParts {
		part, err := from.NextRawPart()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		data, err := io.ReadAll(part)
		if err != nil {
			return err
		}
		if part.FileName() == "" {
			f.Values.Add(part.FormName(), string(data))
			continue
		}
		f.Files = append(f.Files, FormFile{Field: part.FormName(), Name: part.FileName(),
			ContentType: part.Header.Get("Content-Type"), Data: data})
	}
	return &RefusalError{Status: http.StatusBadRequest, Code: fault.CodeValidation,
		Message: "The form has too many fields"}
}
