// How many SMS segments a text takes, in words. Pure.
import type { Segments } from '../../../../../machines/sms-segments.ts'

export const segmentWords = ({ alphabet, units, segments }: Segments): string =>
  `${alphabet}, ${units} characters, ${segments} ${segments === 1 ? 'segment' : 'segments'}${
    segments > 2 ? ': two at most can be saved' : ''
  }${alphabet === 'UCS-2' ? '. A letter outside the GSM alphabet makes a segment hold 70 characters instead of 160' : ''}.`
