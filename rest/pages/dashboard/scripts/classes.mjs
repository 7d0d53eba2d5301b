// Reports classes that the sources use and the built style sheets lack: Tailwind skips a class whose token does not
// exist (such as bg-white without --color-white), so that the element has no style at all.
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

// Tokens that are classes wherever they appear in a string, such as the tone of an icon in a table of looks.
const colored = /^(?:[a-z-]+:)*!?(?:bg|text|border|fill|stroke|shadow|rounded|ring|outline|divide|animate|accent|font)-[a-z0-9][\w./-]*$/

// Classes that scripts or libraries use, without a style of their own.
const unstyled = new Set(['group', 'nodrag', 'nopan', 'nowheel'])

// findMissingClasses returns the unknown classes of the sources, each with its file.
export function findMissingClasses(sources, styles) {
  const known = readClasses(styles)
  const missing = []
  for (const [file, text] of sources) {
    for (const name of new Set(readUsedClasses(text))) if (!known.has(name) && !unstyled.has(name)) missing.push(`${file}: ${name}`)
  }
  return missing
}

export function readFolder(folder, pattern) {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).filter((f) => f.isFile() && pattern.test(f.name)).map((f) => [join(f.parentPath, f.name), readFileSync(join(f.parentPath, f.name), 'utf8')])
}

// readClasses returns the classes of the selectors in style sheets.
function readClasses(styles) {
  const names = new Set()
  for (const [, name] of styles.matchAll(/\.((?:\\[0-9a-fA-F]{1,6} ?|\\.|[\w-])+)/g)) names.add(name.replace(/\\([0-9a-fA-F]{1,6}) ?/g, (_, hex) => String.fromCodePoint(parseInt(hex, 16))).replace(/\\(.)/g, '$1'))
  return names
}

function* readUsedClasses(text) {
  for (const { index, 0: start } of text.matchAll(/\b\w*[cC]lassName=\{?/g)) {
    const value = text.slice(index + start.length)
    if (!start.endsWith('{')) yield* tokensOf(/^"([^"]*)"/.exec(value)?.[1] ?? '')
    else yield* classesOf(expressionAt(value))
  }
  for (const [, , literal = ''] of text.matchAll(/(['"])((?:(?!\1)[^\\\n])*)\1/g)) for (const token of tokensOf(literal)) if (colored.test(token)) yield token
}

// expressionAt returns the expression up to the brace that closes it.
function expressionAt(text) {
  let depth = 1
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '{') depth++
    if (text[i] === '}' && --depth === 0) return text.slice(0, i)
  }
  return text
}

const template = /`((?:[^`$]|\$\{(?:[^{}`]|`[^`]*`)*\}|\$)*)`/g
const placeholder = /\$\{((?:[^{}`]|`[^`]*`)*)\}/g

// classesOf returns the classes in the string literals of an expression, except strings that are compared, passed to a
// function or used as a key, and except names that a placeholder completes.
function* classesOf(expression) {
  for (const [, text] of expression.matchAll(template)) {
    yield* tokensOf(text.replace(/(\S*)\$\{(?:[^{}`]|`[^`]*`)*\}(\S*)/g, ' '))
    for (const [, inner] of text.matchAll(placeholder)) yield* classesOf(inner)
  }
  const rest = expression.replace(template, ' ').replace(/[!=]==? *'[^']*'|\w+\((?:[^()'\n]*,)? *'[^']*'[^()]*\)|\['[^']*'\]/g, ' ')
  for (const [, literal] of rest.matchAll(/'([^'\n]*)'/g)) yield* tokensOf(literal)
}

const tokensOf = (text) => text.split(/\s+/).filter(Boolean)
