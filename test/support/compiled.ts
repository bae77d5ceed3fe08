// Where the compiler puts a test, and where a compiled one comes from. Both paths start at the top of the repository.
export const compiledFile = (source: string): string => `dist/${source.replace(/\.ts$/, '.js')}`
export const sourceFile = (compiled: string): string => compiled.replace(/^dist\//, '').replace(/\.js$/, '.ts')
