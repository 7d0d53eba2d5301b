const most = 65_536
const widest = 1024

// readLogo returns a PNG as base64, or throws the reason why it cannot be used.
export async function readLogo(file: File): Promise<string> {
  if (file.type !== 'image/png') throw new Error('The logo must be a PNG image.')
  if (file.size > most) throw new Error(`The file is ${file.size.toLocaleString('en')} bytes; the maximum is ${most.toLocaleString('en')}.`)
  const bytes = new Uint8Array(await file.arrayBuffer())
  const view = new DataView(bytes.buffer)
  if (bytes.length < 24) throw new Error('The file is not a PNG image.')
  const [width, height] = [view.getUint32(16), view.getUint32(20)]
  if (width > widest || height > widest) throw new Error(`The image is ${width} × ${height} pixels; the maximum is ${widest} × ${widest}.`)
  return btoa(Array.from(bytes, (b) => String.fromCharCode(b)).join(''))
}
