// locales are languages that the dashboard offers. Templates can have any other.
export const locales = ['en-US', 'en-GB', 'de', 'fr', 'es', 'pt-BR', 'pt-PT', 'it', 'nl', 'pl', 'ja']

const languageNames = new Intl.DisplayNames('en', { type: 'language' })

// languageName returns the English name of a language, or its tag if it is unknown or incomplete.
export function languageName(tag: string): string {
  try {
    return languageNames.of(tag) ?? tag
  } catch {
    return tag
  }
}

// canonicalLocale returns a BCP 47 tag as the server writes it, or null if it is invalid.
export function canonicalLocale(tag: string): string | null {
  try {
    return Intl.getCanonicalLocales(tag.trim())[0] ?? null
  } catch {
    return null
  }
}
