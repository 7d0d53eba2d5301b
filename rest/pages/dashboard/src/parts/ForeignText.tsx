// Control characters and format characters, such as direction overrides and zero-width spaces, have no shape.
const invisible = /[\p{Cc}\p{Cf}]/gu

// Joiners inside emoji and scripts, and soft hyphens.
const harmless = '\u200c\u200d\u00ad'

const pictures: Record<string, string> = { '\t': ' ', '\n': ' ', '\r': ' ' }

// showInvisible replaces characters that could hide or reorder text by visible ones, such as ⟨U+202E⟩.
export const showInvisible = (text: string) =>
  text.replace(invisible, (c) => (harmless.includes(c) ? c : (pictures[c] ?? `⟨U+${(c.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}⟩`)))

// ForeignText shows text by strangers, such as a subject, so that it cannot change the text around it.
export const ForeignText = ({ text }: { text: string }) => <bdi>{showInvisible(text)}</bdi>
