// What tenancy needs of the keyring: to close a text so that it opens only in the same context.
export interface Sealer {
  seal(plain: string, context: string): string
  unseal(sealed: string, context: string): string
}
