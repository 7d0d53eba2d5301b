package sending

import (
	"path"
	"strings"
	"unicode"
)

// isBlockedExtension judges by the last extension, after the dots, spaces and
// slashes that some systems drop from the end of a name, and without characters
// that nobody sees.
func isBlockedExtension(name string) bool {
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

// blockedExtensions are files that a double click may run: the types that large
// providers refuse to carry, and disk images and packages that hide them.
var blockedExtensions = func() map[string]bool {
	set := map[string]bool{}
	for ext := range strings.FieldsSeq(`
		ade adp app asp bas bat cer chm cmd com cpl crt csh der exe fxp gadget hlp hta inf ins isp its
		js jse ksh lib lnk mad maf mag mam maq mar mas mat mau mav maw mda mdb mde mdt mdw mdz
		msc msh msh1 msh2 mshxml msh1xml msh2xml msi msp mst ops pcd pif plg prf prg reg
		scf scr sct shb shs sys ps1 ps1xml ps2 ps2xml psc1 psc2 tmp url vb vbe vbs vps vsmacros vss vst vsw vxd
		ws wsc wsf wsh xnk
		jar dll iso img vhd vhdx msix appx`) {
		set[ext] = true
	}
	return set
}()
