const most = 65_536
const widest = 1024

// readLogo gives a PNG as base64, or throws what is wrong with it.
export async function readLogo(file: File): Promise<string> {
  if (file.type !== 'image/png') throw new Error('The logo must be a PNG.')
  if (file.size > most) throw new Error(`The file has ${file.size.toLocaleString('en')} octets; at most ${most.toLocaleString('en')} are taken.`)
  const bytes = new Uint8Array(await file.arrayBuffer())
  const view = new DataView(bytes.buffer)
  if (bytes.length < 24) throw new Error('The file is no PNG.')
  const [width, height] = [view.getUint32(16), view.getUint32(20)]
  if (width > widest || height > widest) throw new Error(`The picture has ${width} × ${height} pixels; at most ${widest} × ${widest} are taken.`)
  return btoa(Array.from(bytes, (b) => String.fromCharCode(b)).join(''))
}
