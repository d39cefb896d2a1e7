import { describe, expect, it } from 'vitest'
import { imageSize } from '../src/shared/image-size.ts'

const base64 = (...parts: (string | number[])[]): string => {
  return Buffer.concat(
    parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : Buffer.from(part))),
  ).toString('base64')
}
const zeros = (length: number): number[] => Array.from({ length }, () => 0)

describe('the size of an image is read from the head of its bytes', () => {
  it.each([
    ['PNG', base64('\u0089PNG\r\n\u001a\n', zeros(4), 'IHDR', [0, 0, 1, 44, 0, 0, 0, 200])],
    ['GIF', base64('GIF89a', [44, 1, 200, 0])],
    ['lossy WebP', base64('RIFF', zeros(4), 'WEBPVP8 ', zeros(4), [0, 0, 0, 0x9d, 1, 0x2a, 44, 1, 200, 0])],
    ['lossless WebP', base64('RIFF', zeros(4), 'WEBPVP8L', zeros(4), [0x2f, 0x2b, 0xc1, 0x31, 0], zeros(5))],
    ['extended WebP', base64('RIFF', zeros(4), 'WEBPVP8X', zeros(4), zeros(4), [43, 1, 0, 199, 0, 0])],
    ['JPEG', base64([0xff, 0xd8, 0xff, 0xe0, 0, 4, 0, 0, 0xff, 0xc4, 0, 2, 0xff, 0xc2, 0, 8, 8, 0, 200, 1, 44, 3])],
  ])('%s', (_, data) => {
    expect(imageSize(data)).toEqual({ width: 300, height: 200 })
  })

  it.each([
    ['no base64', '\u00e9'],
    ['nothing', ''],
    ['text', base64('hello')],
    ['a short PNG', base64('\u0089PNG\r\n\u001a\n')],
    ['a short GIF', base64('GIF89a')],
    ['a short WebP', base64('RIFF', zeros(4), 'WEBP')],
    ['a JPEG without a frame', base64([0xff, 0xd8, 0xff, 0xda, 0, 4, 0, 0], zeros(9))],
    ['a JPEG cut off', base64([0xff, 0xd8, 0xff, 0xe0, 0xff, 0xff], zeros(9))],
    ['a GIF without a side', base64('GIF89a', zeros(4))],
  ])('is unknown of %s', (_, data) => {
    expect(imageSize(data)).toBeUndefined()
  })
})
