/** The phrases of zod's own messages, which no caller and no operator is to read. */
export const ZOD_WORDING =
  /Invalid (?:input|option|string|key|element|discriminator|type|URL|UUID|email|ISO)|Too (?:small|big)|Unrecognized key|expected \w+|received \w+|Required$|invalid_|too_small|too_big|unrecognized_/
