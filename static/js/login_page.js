import { tellSignOut } from './tabs.js';

tellSignOut();
