package sending

import (
	"fmt"

	"github.com/postrider/postrider/runtime/fault"
	"github.com/postrider/postrider/runtime/mail/mime"
)

func validateAttachments(files []Attachment, wrong fault.Fields) []Attachment {
	if len(files) > MaxAttachments {
		wrong.Add("attachments", "has %d files; the limit is %d", len(files), MaxAttachments)
	}
	out := make([]Attachment, len(files))
	for i, f := range files {
		out[i] = f.normalized(fmt.Sprintf("attachments[%d].", i), wrong)
	}
	return out
}

// normalized fills in the content type and strips the content id's brackets.
func (f Attachment) normalized(path string, wrong fault.Fields) Attachment {
	switch err := mime.ValidateFileName(f.Name); {
	case f.Name == "":
		wrong.Add(path+"name", "is required")
	case err != nil:
		wrong.Add(path+"name", "%s", err)
	case isBlockedExtension(f.Name):
		wrong.Add(path+"name", "has an extension that is not allowed because it can run code")
	}
	switch {
	case len(f.Data) == 0:
		wrong.Add(path+"data", "is required")
	case len(f.Data) > MaxAttachment:
		wrong.Add(path+"data", "is larger than 10 MB")
	}
	if f.ContentType == "" {
		f.ContentType = mime.TypeByName(f.Name)
	} else if err := mime.ValidateContentType(f.ContentType); err != nil {
		wrong.Add(path+"content_type", "%s", err)
	}
	id, err := mime.ParseContentID(f.ContentID)
	if err != nil {
		wrong.Add(path+"content_id", "%s", err)
	}
	f.ContentID = id
	return f
}
