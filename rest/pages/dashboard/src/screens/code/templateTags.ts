// blocksOf lists the blocks that a text defines, without repetitions.
export const blocksOf = (text: string) => [...new Set([...text.matchAll(/\{%-?\s*block\s+"([^"]+)"/g)].map((m) => m[1] ?? ''))]

// layoutOf returns the alias of the layout that a template extends.
export const layoutOf = (text: string) => /\{%-?\s*layout\s+"([^"]+)"/.exec(text)?.[1]
