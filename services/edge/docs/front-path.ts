/** Where the reference begins. */
export const FRONT_PATH = '/docs'
