// Before the tests of each file: the modules that files share stay loaded, what a file opened is closed after it.

import { afterAll } from "vitest";
import { clear } from "./bench";

afterAll(clear);
