import decodeQR from 'qr/decode.js'
import { expect, it } from 'vitest'
import { modules, outline } from './QrCode'

it('draws what a camera reads back', () => {
  const uri = 'otpauth://totp/Postrider:ada@example.com?algorithm=SHA1&digits=6&issuer=Postrider&period=30&secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP'
  const rows = modules(uri)
  const scale = 4
  const side = rows.length * scale
  const data = new Uint8Array(side * side * 4).fill(255)
  for (const [, x, y, length] of outline(rows).matchAll(/M(\d+) (\d+)h(\d+)v1H\d+z/g)) {
    for (let row = Number(y) * scale; row < (Number(y) + 1) * scale; row++) {
      for (let column = Number(x) * scale; column < (Number(x) + Number(length)) * scale; column++) data.fill(0, (row * side + column) * 4, (row * side + column) * 4 + 3)
    }
  }
  expect(decodeQR({ width: side, height: side, data })).toBe(uri)
})
