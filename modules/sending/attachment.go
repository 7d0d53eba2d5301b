package sending

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/postrider/postrider/runtime/base/fault"
	"github.com/postrider/postrider/runtime/mail/message"
	"github.com/postrider/postrider/runtime/mail/mime"
)

func validateAttachments(files []Attachment, wrong fault.Fields) []Attachment {
	if len(files) > MaxAttachments {
		wrong.Add("attachments", "has %d files; the limit is %d", len(files), MaxAttachments)
	}
	out := make([]Attachment, len(files))
	ids := map[string]bool{}
	for i, f := range files {
		path := fmt.Sprintf("attachments[%d].", i)
		out[i] = f.normalize(path, wrong)
		id := out[i].ContentID
		if id != "" && ids[id] {
			wrong.Add(path+"content_id", "must be unique")
		}
		ids[id] = true
	}
	return out
}

// normalize keeps the last element of the name, fills in the content type and strips the angle brackets of the
// content ID. A file may be empty but not missing.
func (f Attachment) normalize(path string, wrong fault.Fields) Attachment {
	given := f.Name
	f.Name = baseName(given)
	switch err := mime.ValidateFileName(f.Name); {
	case given == "":
		wrong.Add(path+"name", "is required")
	case f.Name == "":
		wrong.Add(path+"name", "must name a file, not a folder")
	case err != nil:
		wrong.Add(path+"name", "%s", err)
	case isBlockedExtension(f.Name):
		wrong.Add(path+"name", "has an extension that is not allowed because it can run code")
	}
	switch {
	case f.Data == nil:
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

// baseName returns the last element of a path in the notation of any operating system, or "" if the path names
// no file.
func baseName(name string) string {
	name = strings.TrimRight(name, `/\`)
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	if strings.Trim(name, ". ") == "" {
		return ""
	}
	return name
}

// isBlockedExtension checks the last extension as the most lenient system would read it: full-width letters
// count as ASCII, a colon begins an NTFS stream, some servers end a name at a semicolon, and trailing dots,
// spaces and slashes as well as invisible characters are ignored.
func isBlockedExtension(name string) bool {
	return slices.ContainsFunc(strings.FieldsFunc(norm.NFKC.String(name),
		func(r rune) bool { return r == ':' || r == ';' }), hasBlockedExtension)
}

func hasBlockedExtension(name string) bool {
	visible := strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		return r
	}, name)
	trimmed := strings.TrimRight(visible, `. /\`)
	ext := strings.TrimPrefix(strings.ToLower(path.Ext(trimmed)), ".")
	return blockedExtensions[strings.TrimSpace(ext)]
}

// BlockedExtensions returns the extensions that attachments may not have, sorted, in lower case and without the
// dot. A double click may run such a file or a file inside it.
func BlockedExtensions() []string { return slices.Sorted(maps.Keys(blockedExtensions)) }

// The first block is the list that Amazon SES blocks. The second adds disk images, packages, scripts and
// programs that it omits.
var blockedExtensions = func() map[string]bool {
	set := map[string]bool{}
	for ext := range strings.FieldsSeq(`
		ade adp app asp bas bat cer chm cmd com cpl crt csh der exe fxp gadget hlp hta inf ins isp its
		js jse ksh lib lnk mad maf mag mam maq mar mas mat mau mav maw mda mdb mde mdt mdw mdz
		msc msh msh1 msh2 mshxml msh1xml msh2xml msi msp mst ops pcd pif plg prf prg reg
		scf scr sct shb shs sys ps1 ps1xml ps2 ps2xml psc1 psc2 tmp url vb vbe vbs vps vsmacros vss vst vsw vxd
		ws wsc wsf wsh xnk

		jar dll iso img vhd vhdx msix appx msixbundle appxbundle
		sh bash zsh fish ksh command run py pyc pyw pyz pyzw pl rb php phar phtml lua tcl mjs cjs psm1 psd1
		scpt applescript workflow action terminal xll ocx jnlp application appref-ms
		apk ipa deb rpm dmg pkg appimage elf so dylib wasm class desktop service`) {
		set[ext] = true
	}
	return set
}()

// RelayedMessage is a message that was submitted over SMTP. Its sender composed it, and it is sent as submitted.
// Message.To, CC and BCC are its envelope: each address is in the list of the header field that names it. The
// record shows the other header fields of the message.
type RelayedMessage struct {
	// MIME is the whole message, in the form that verbatim.Split accepts, without Bcc and the fields meant for
	// us. Date and Message-ID have been added if they were missing. If nil, the message is being sent again and
	// is composed here from html and text.
	MIME      []byte
	MessageID string // from the header, without angle brackets; empty if absent
	Files     []message.File
	Names     []string // all file names in it, including those of parts that are not files
	// Places is the number of {{unsubscribe_url}} placeholders in its texts; counting stops shortly after the
	// maximum.
	Places int
}

// requiresAllFields reports whether subject and to are required. They are not for messages submitted over SMTP.
func (m Message) requiresAllFields() bool { return m.Relayed == nil }

// fileCount returns the number of attachments.
func (m Message) fileCount() int {
	if m.Relayed != nil {
		return len(m.Relayed.Files)
	}
	return len(m.Attachments)
}

// validate checks the files against the rules for attachments. Parts without a name do not count as files.
func (r *RelayedMessage) validate(wrong fault.Fields) {
	if r == nil {
		return
	}
	if len(r.Files) > MaxAttachments {
		wrong.Add("attachments", "has %d files; the limit is %d", len(r.Files), MaxAttachments)
	}
	for i, name := range r.Names {
		if isBlockedExtension(name) {
			wrong.Add(fmt.Sprintf("attachments[%d].name", i),
				"has an extension that is not allowed because it can run code")
		}
	}
	for i, f := range r.Files {
		path := fmt.Sprintf("attachments[%d].", i)
		if isBlockedExtension(f.Filename) {
			wrong.Add(path+"name", "has an extension that is not allowed because it can run code")
		}
		if f.Size > MaxAttachment {
			wrong.Add(path+"data", "is larger than 10 MB")
		}
	}
}
